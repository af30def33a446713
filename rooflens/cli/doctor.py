"""`rooflens doctor`: what works here and what does not, with a remedy for each."""

import dataclasses
import json
import sys

from rooflens.cli.console import stdout_console
from rooflens.cli.options import TextFormat
from rooflens.errors import NotAvailableError
from rooflens.profiler.doctor import Check, State, can_run, examine
from rooflens.store import default_runs_folder

STYLES = {State.OK: "green", State.WARNING: "yellow", State.MISSING: "red", State.UNKNOWN: "dim"}


def print_report(output: TextFormat) -> int:
    """Prints every check; 0 if the main job runs here, the exit code of "missing" (3) if not."""
    checks = examine(default_runs_folder())
    if output is TextFormat.JSON:
        document = {
            "can_run": can_run(checks),
            "checks": [dataclasses.asdict(check) for check in checks],
        }
        json.dump(document, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _print_table(checks)
    return 0 if can_run(checks) else NotAvailableError.exit_code


def _print_table(checks: tuple[Check, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("check", "state", "found", "what to do"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        state = Text(check.state, style=STYLES[check.state])
        table.add_row(check.name, state, Text(check.finding), Text(check.remedy or ""))
    console = stdout_console()
    console.print(table)
    missing = [check.name for check in checks if check.necessary and check.state is State.MISSING]
    verdict = (
        f"The main job cannot run here: {', '.join(missing)} missing."
        if missing
        else "The main job runs here."
    )
    console.print(f"\n{verdict}", markup=False)
