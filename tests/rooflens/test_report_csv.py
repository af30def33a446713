"""CSV: flat, parsed back by the standard reader, and harmless in a spreadsheet."""

import csv
import io
from dataclasses import replace

import pytest

from rooflens.report.csv import write_csv
from rooflens.run import Run
from rooflens.terms import Status
from tests.rooflens.examples import ended, ladder, measured, modelled, run_of


def text_of(run: Run) -> str:
    stream = io.StringIO(newline="")
    write_csv(run, stream)
    return stream.getvalue()


def rows_of(run: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(run), newline=""), strict=True))


def test_one_row_per_result_with_the_numbers_of_the_document() -> None:
    rows = rows_of(ladder())
    assert len(rows) == 7
    (row,) = rows_of(run_of(measured("cached", 1.6e-3, 2e-3, rows=1000, cols=500_000, reads=2)))
    assert row["kernel"] == "softmax.cached"
    assert (row["size_rows"], row["size_cols"]) == ("1000", "500000")
    assert row["verified"] == "true"
    assert float(row["hot_median_s"]) == pytest.approx(1.6e-3)
    assert float(row["cold_achieved_bytes_per_s"]) == pytest.approx(2e12)
    assert row["cold_samples"] == "11"
    assert row["registers_per_thread"] == "32"
    assert row["most_threads_in_a_launch"] == "256000"
    assert row["flops_fp32"] == "2500000000"
    assert row["compulsory_bytes"] == "4000000000"
    assert row["issued_bytes"] == "6000000000"
    assert float(row["modelled_time_bound_s"]) == pytest.approx(1e-3)
    assert float(row["bandwidth_ceiling_bytes_per_s"]) == 4e12
    assert row["cache_state"] == "cold"


def test_absent_is_empty_and_never_zero() -> None:
    (modelled_row,) = rows_of(run_of(modelled("naive")))
    assert modelled_row["hot_median_s"] == modelled_row["verified"] == ""
    failed = rows_of(run_of(modelled("naive"), ended("cached", Status.FAILED, "wrong")))[1]
    for name in ("compulsory_bytes", "registers_per_thread", "launches", "intensity_flop_per_byte"):
        assert failed[name] == ""
    assert failed["reason"] == "wrong"


def test_columns_are_snake_case_and_the_same_in_every_row() -> None:
    other = replace(modelled("naive"), size={"n": 5})
    header, *lines = csv.reader(io.StringIO(text_of(run_of(modelled("naive"), other)), newline=""))
    assert all(name == name.lower() and name.isidentifier() for name in header)
    assert len(set(header)) == len(header)
    assert {len(line) for line in lines} == {len(header)}
    assert dict(zip(header, lines[1], strict=True))["size_n"] == "5"
    assert dict(zip(header, lines[1], strict=True))["size_rows"] == ""


@pytest.mark.parametrize("before", ["", "\t", "\r", " \n"])
@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_a_formula_becomes_text(start: str, before: str) -> None:
    hostile = f"{start}cmd|' /C calc'!A0"
    (row,) = rows_of(run_of(ended("naive", Status.SKIPPED, before + hostile)))
    assert row["reason"] == f"'{hostile}"


def test_negative_numbers_stay_numbers() -> None:
    (row,) = rows_of(run_of(measured("naive", -1e-6, 1e-3)))
    assert float(row["hot_median_s"]) == pytest.approx(-1e-6)


def test_quotes_and_commas_survive_and_lines_become_one() -> None:
    reason = 'a "quoted", reason\r\nof two lines; é 型 \x1b[31m'
    run = run_of(ended("naive", Status.SKIPPED, reason))
    assert rows_of(run)[0]["reason"] == 'a "quoted", reason of two lines; é 型 ?[31m'
    assert text_of(run).endswith("\r\n")


def test_text_that_is_no_unicode_can_still_be_written() -> None:
    text_of(run_of(ended("naive", Status.SKIPPED, "lone \ud800"))).encode("utf-8")


def test_a_run_without_results_is_empty() -> None:
    assert text_of(run_of()) == ""
