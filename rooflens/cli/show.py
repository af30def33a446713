"""`rooflens show`: a stored or recorded run as a table, JSON or CSV."""

import json
import sys

from rooflens.cli.console import remark, stdout_console
from rooflens.cli.options import RunFormat
from rooflens.errors import UsageError
from rooflens.store import find_run, read_run


def show_run(name: str, output: RunFormat, *, launches: bool = False) -> int:
    """Prints the run that `name` stands for; see rooflens.store.find_run.

    launches: the table is of launches, not of kernels. JSON holds both anyway; CSV has no rows for
    launches, so that the two together are a UsageError.
    """
    if launches and output is RunFormat.CSV:
        raise UsageError("--launches prints a table; JSON holds launches too, CSV none")
    path = find_run(name)
    run = read_run(path)
    if output is RunFormat.JSON:
        from rooflens.report.document import document

        json.dump(document(run), sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
    elif output is RunFormat.CSV:
        from rooflens.report.csv import write_csv

        if not run.measurements:
            remark(f"run {path.name} has no results, so that its CSV is empty")
        write_csv(run, sys.stdout)
    elif launches:
        from rooflens.report.grid import print_line
        from rooflens.report.launches import print_launches
        from rooflens.report.text import clean

        console = stdout_console()
        print_line(clean(f"{run.card_name}, run {path.name}"), console)
        console.print()
        print_launches(run, console)
    else:
        from rooflens.report.table import print_run

        print_run(run, stdout_console())
    return 0
