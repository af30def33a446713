"""`rooflens import`: other tools' reports become a stored run."""

import dataclasses
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rooflens.analysis.grouping import group_launches
from rooflens.analysis.readers.locale_numbers import DecimalMark
from rooflens.analysis.readers.read_report import launches_of, read_report
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.analysis.readers.reported_card import card_of
from rooflens.cli.console import remark, stdout_console
from rooflens.errors import UsageError
from rooflens.profiler.provenance import provenance_now
from rooflens.report.document import document
from rooflens.run import Run
from rooflens.store import default_runs_folder, write_run
from rooflens.store.check import check_writable


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """The command's arguments as the user gave them."""

    files: tuple[str, ...]
    card: str | None
    decimal: DecimalMark | None
    out: str | None
    as_json: bool
    group: bool = False


def import_reports(request: ImportRequest) -> int:
    """Reads every file, stores one run and prints it.

    A file that cannot be read is refused before anything is written.
    """
    if not request.files:
        raise UsageError("import needs a file: rooflens import REPORT.csv")
    if request.out == "":
        raise UsageError("--out names no folder; leave it out to store the run in the usual place")
    parent = Path(request.out) if request.out is not None else default_runs_folder()
    check_writable(parent)
    files = [(name, read_report(Path(name), decimal=request.decimal)) for name in request.files]
    run = _run(files, request.card)
    if request.group:
        run = dataclasses.replace(run, measurements=group_launches(run.measurements))
    contents = document(run)
    folder = write_run(run, parent, document=contents)
    _print(run, contents, folder, as_json=request.as_json)
    return 0


def _run(files: list[tuple[str, ReportFile]], card: str | None) -> Run:
    hardware, chosen = card_of([file for _, file in files], card)
    notes = [f"{Path(name).name}: {note}" for name, file in files for note in file.notes]
    return Run(
        device_kind="report",
        hardware=hardware,
        provenance=provenance_now(sys.argv[1:], notes=[*notes, *chosen]),
        measurements=launches_of(file for _, file in files),
    )


def _print(run: Run, contents: Mapping[str, object], folder: Path, *, as_json: bool) -> None:
    if as_json:
        json.dump(contents, sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
        remark(f"run written to {folder}")
        return
    from rooflens.report.table import print_run

    console = stdout_console()
    print_run(run, console)
    console.print(f"run written to {folder}", markup=False, soft_wrap=True)
