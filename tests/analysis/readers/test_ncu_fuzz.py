"""Damaged exports: read right, or refused with the place.

ROOFLENS_MUTANTS sets how many are tried of each export.
"""

import os
import random
from functools import cache

import pytest

from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.errors import DataFormatError
from tests.analysis.readers.exports import export, first_rows
from tests.analysis.readers.mutations import changed_numbers, mutate

MUTANTS = int(os.environ.get("ROOFLENS_MUTANTS", "120"))
EXPORTS = ("raw", "scaled", "details", "metrics", "live", "summary")


@cache
def whole(name: str) -> bytes:
    """A real export, cut down to a few launches."""
    first_lines = {
        "details": ("h200_details", 210),
        "live": ("h200_live_stdout_mixed", 130),
        "summary": ("h200_details_summary_per_kernel", 120),
        "metrics": ("h200_live_metrics", 99),
    }
    if name in ("raw", "scaled"):
        return first_rows("h200_raw_base_units" if name == "raw" else "h200_raw", 4)
    export_name, lines = first_lines[name]
    return b"".join(export(export_name).splitlines(keepends=True)[:lines])


@cache
def undamaged(name: str) -> ReportFile:
    return read_ncu_csv(whole(name), name="export.csv")


def read_or_refuse(data: bytes) -> ReportFile | DataFormatError:
    try:
        return read_ncu_csv(data, name="export.csv")
    except DataFormatError as error:
        return error


@pytest.mark.parametrize("name", EXPORTS)
def test_a_fault_changes_no_number_that_it_does_not_touch(name: str) -> None:
    source = random.Random(name)
    for trial in range(MUTANTS):
        mutant = mutate(whole(name), source)
        read = read_or_refuse(mutant.data)
        if isinstance(read, DataFormatError):
            assert str(read).startswith("export.csv"), f"trial {trial}, {mutant.kind}"
            continue
        changed = changed_numbers(read, undamaged(name))
        touched = 0 if mutant.lines is None else 1
        assert len(changed) <= touched, f"trial {trial}, {mutant.kind} {mutant.lines}: {changed}"


def test_a_changed_number_would_be_seen() -> None:
    """The comparison itself: a digit of one launch's time, and a locale taken for another."""
    data = whole("raw")
    assert changed_numbers(undamaged("raw"), undamaged("raw")) == {}
    slower = data.replace(b'"42,496"', b'"42,996"')
    assert len(changed_numbers(read_ncu_csv(slower, name="x"), undamaged("raw"))) == 1
    times_1000 = data.replace(b'"42,496"', b'"42,496,000"').replace(b'"23,168"', b'"23,168,000"')
    assert len(changed_numbers(read_ncu_csv(times_1000, name="x"), undamaged("raw"))) == 2
