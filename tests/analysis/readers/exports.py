"""Real exports of one report of 24 launches on an H200, and small tables to plant faults in."""

import csv
import gzip
import io
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "data" / "ncu"


@cache
def export(name: str) -> bytes:
    """A real export by its name without endings: "h200_raw_base_units"."""
    return gzip.decompress((FOLDER / f"{name}.csv.gz").read_bytes())


@cache
def expected() -> list[dict[str, Any]]:
    """The right values of the 24 launches."""
    launches: list[dict[str, Any]] = json.loads((FOLDER / "h200_expected.json").read_text())[
        "launches"
    ]
    return launches


def first_rows(name: str, launches: int) -> bytes:
    """A raw export cut down to its header, its units and its first launches."""
    return b"".join(export(name).splitlines(keepends=True)[: launches + 2])


def written(rows: Sequence[Sequence[str]], *, delimiter: str = ",", end: str = "\n") -> str:
    """Rows as Nsight Compute writes them: every cell in quotes."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(
        rows
    )
    return stream.getvalue()


LAUNCH = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream")
SHAPE = ("Block Size", "Grid Size", "Device", "CC")
ONE = ("0", "100", "python", "127.0.0.1", "scale(float *, int)", "1", "7")
ITS_SHAPE = ("(256, 1, 1)", "(128, 1, 1)", "0", "9.0")


def raw(*metrics: tuple[str, str, str], launch: Sequence[str] = ONE) -> str:
    """A raw page of one launch with these (metric, unit, value)."""
    return written(
        [
            (*LAUNCH, *SHAPE, *(name for name, _, _ in metrics)),
            ("",) * len(LAUNCH + SHAPE) + tuple(unit for _, unit, _ in metrics),
            (*launch, *ITS_SHAPE, *(value for _, _, value in metrics)),
        ]
    )


def listed(*metrics: tuple[str, str, str], launch: Sequence[str] = ONE) -> str:
    """A table of chosen metrics of one launch: a row for each (metric, unit, value)."""
    section = "Command line profiler metrics"
    names = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")
    rows = [(*launch, *ITS_SHAPE, section, *metric) for metric in metrics]
    return written([(*LAUNCH, *SHAPE, *names), *rows])
