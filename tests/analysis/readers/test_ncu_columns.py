"""The reader of columns gives what the reader of rows gives, or leaves the file to it."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rooflens.analysis.readers import ncu_columns
from rooflens.analysis.readers.locale_numbers import DecimalMark
from rooflens.analysis.readers.ncu_columns import read_columns
from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.errors import DataFormatError
from tests.analysis.readers.exports import export, first_rows
from tests.analysis.readers.mutations import mutate

MUTANTS = int(os.environ.get("ROOFLENS_MUTANTS", "120"))
RAW = ("h200_raw_base_units", "h200_raw")


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ncu_columns, "LEAST_BYTES", 0)


def by_rows(data: bytes) -> ReportFile | None:
    try:
        return read_ncu_csv(data, name="export.csv")
    except DataFormatError:
        return None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "export.csv"


@pytest.mark.parametrize("name", RAW)
def test_a_real_export_is_plain_and_gives_the_same(file: Path, name: str) -> None:
    file.write_bytes(export(name))
    read = read_columns(file)
    assert read is not None
    assert len(read.measurements) == 24
    assert read == by_rows(export(name))


@pytest.mark.parametrize("name", RAW)
def test_a_damaged_export_gives_the_same_or_is_left_alone(file: Path, name: str) -> None:
    source = random.Random(name)
    whole = first_rows(name, 4)
    plain = 0
    for trial in range(MUTANTS):
        mutant = mutate(whole, source)
        file.write_bytes(mutant.data)
        read = read_columns(file)
        if read is not None:
            plain += 1
            assert read == by_rows(mutant.data), f"trial {trial}, {mutant.kind}"
    assert plain > MUTANTS // 5


@pytest.mark.parametrize(
    "odd",
    [
        lambda data: data[:-1],
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data + b"==PROF== Disconnected\n",
        lambda data: data.replace(b"\n", b"\n\n", 3),
        lambda data: data.replace(b'"42,496"', b'"42.496"'),
        lambda data: data.replace(b'"42,496"', b'"42,49"'),
        lambda data: data.replace(b'"42,496"', b'"-42,496"'),
        lambda data: data.replace(b'"42,496"', b'"1e99"'),
        lambda data: data.replace(b'"ns"', b'""'),
        lambda data: data.split(b"\n", 1)[1],
        lambda data: data.replace(b'"474"', b'"\xc3\xa4"'),
    ],
)
def test_what_is_odd_is_left_to_the_reader_of_rows(
    file: Path, odd: Callable[[bytes], bytes]
) -> None:
    data = odd(export("h200_raw_base_units"))
    assert data != export("h200_raw_base_units")
    file.write_bytes(data)
    read = read_columns(file)
    assert read is None or read == by_rows(data)


def test_another_decimal_mark_than_asked_for_is_left_alone(file: Path) -> None:
    file.write_bytes(export("h200_raw_base_units"))
    assert read_columns(file, decimal=DecimalMark.COMMA) is None
    assert read_columns(file, decimal=DecimalMark.POINT) is not None


def test_metrics_that_only_some_launches_have_are_absent_for_the_others(file: Path) -> None:
    lines = export("h200_raw_base_units").splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"23,168"', b'"n/a"')
    lines[4] = lines[4].replace(b'"24,512"', b'""')
    data = b"".join(lines)
    file.write_bytes(data)
    read = read_columns(file)
    assert read == by_rows(data)
    assert read is not None
    _, second, third, *_ = read.measurements
    assert second.report is not None
    assert third.report is not None
    assert "n/a" in second.report.absent["time"]
    assert "empty" in third.report.absent["time"]
