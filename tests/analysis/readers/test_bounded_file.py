"""Files that would fill the memory are refused before they do."""

import gzip
from pathlib import Path

import pytest

from rooflens.analysis.readers import bounded_file
from rooflens.analysis.readers.read_report import read_report
from rooflens.errors import DataFormatError
from tests.analysis.readers.exports import export


def refusal(path: Path) -> str:
    with pytest.raises(DataFormatError) as caught:
        read_report(path)
    return str(caught.value)


def test_a_compressed_table_gives_the_same_as_the_table(tmp_path: Path) -> None:
    plain, packed = tmp_path / "report", tmp_path / "packed" / "report"
    packed.parent.mkdir()
    plain.write_bytes(export("h200_raw_base_units"))
    packed.write_bytes(gzip.compress(export("h200_raw_base_units")))
    assert read_report(plain) == read_report(packed)


@pytest.mark.parametrize("start", [b"", b"[", b'"ID","Kernel Name"\n'])
def test_a_gzip_bomb_is_refused(tmp_path: Path, start: bytes) -> None:
    bomb = tmp_path / "report.json.gz"
    bomb.write_bytes(gzip.compress(start + b" " * 80_000_000))
    assert "no report is like that" in refusal(bomb)


def test_damaged_gzip_data_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(export("h200_raw_base_units"))
    file = tmp_path / "report.gz"
    for data in (packed[:-100], packed[:50], packed[:2000] + b"x" * 100 + packed[2100:]):
        file.write_bytes(data)
        assert "cannot be read" in refusal(file)


def test_a_table_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.csv"
    file.write_bytes(export("h200_raw_base_units"))
    monkeypatch.setattr(bounded_file, "MAX_TABLE_BYTES", 100_000)
    assert "larger than the 100000 bytes" in refusal(file)


def test_a_compressed_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "export.gz"
    file.write_bytes(gzip.compress(b"SQLite format 3\x00" + bytes(100)))
    assert "unpack it first" in refusal(file)
