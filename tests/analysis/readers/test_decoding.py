"""The same table in every encoding that shells and spreadsheets make of it."""

import pytest

from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.terms import CacheState
from tests.analysis.readers.exports import listed, raw

TABLE = listed(
    ("gpu__time_duration.sum", "ns", "42,496"), ("dram__bytes.sum", "byte", "40,093,440")
)


def times(data: bytes) -> list[float]:
    rows = read_ncu_csv(data, name="x").measurements
    return [row.times[CacheState.REPORTED].samples_s[0] for row in rows]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_encoding_gives_the_same(encoding: str, mark: bytes, end: str) -> None:
    assert times(mark + TABLE.replace("\n", end).encode(encoding)) == [42.496e-6]


@pytest.mark.parametrize("first", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize("mark", [b"", b"\xff\xfe"])
def test_a_file_may_change_its_encoding_half_way(first: str, mark: bytes) -> None:
    """A program's output in one, and what a shell appended in another."""
    second = "utf-16-le" if first == "utf-8" else "utf-8"
    start_mark = mark if second == "utf-16-le" else b""
    other = TABLE.replace('"0","100"', '"1","100"').replace("42,496", "42,497")
    data = TABLE.encode(first) + start_mark + other.encode(second)
    assert times(data) == [42.496e-6, 42.497e-6]
    assert any("encoding" in note for note in read_ncu_csv(data, name="x").notes)


def test_a_semicolon_re_save_by_a_spreadsheet_gives_the_same() -> None:
    cells = [
        line[1:-1].split('","')
        for line in raw(
            ("gpu__time_duration.sum", "ns", "42496"), ("dram__bytes.sum", "byte", "40093440")
        ).splitlines()
    ]
    resaved = "\r\n".join(
        ";".join(f'"{cell}"' if any(one in cell for one in ',;" ') else cell for cell in row)
        for row in cells
    )
    assert times(resaved.encode("utf-8-sig")) == [42.496e-6]


def test_latin_1_names_are_read_with_a_note() -> None:
    read = read_ncu_csv(TABLE.replace("python", "pythön").encode("latin-1"), name="x")
    assert read.measurements[0].report is not None
    assert read.measurements[0].report.process_name == "pythön"
    assert any("latin-1" in note for note in read.notes)
