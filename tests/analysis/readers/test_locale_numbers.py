"""How a file writes its numbers: decided from all evidence, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.readers.locale_numbers import (
    DecimalMark,
    NumberCell,
    NumberFormat,
    decide_format,
)
from rooflens.errors import DataFormatError

POINT, COMMA = DecimalMark.POINT, DecimalMark.COMMA


def cell(text: str, *, whole: bool = False) -> NumberCell:
    return NumberCell(text=text, line=3, column="metric", whole=whole)


def decided(*cells: NumberCell) -> DecimalMark:
    return decide_format(cells, path="x").decimal


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("1,234.5", POINT),
        ("1.234,5", COMMA),
        ("1,234,567", POINT),
        ("1.530.000", COMMA),
        ("0.5", POINT),
        ("0,27", COMMA),
        ("0.125", POINT),
        ("1234.125", POINT),
        ("12,34,567.8", POINT),
        ("1 234,5", COMMA),
        ("1\u202f234,567", COMMA),
        ("1'234.567", POINT),
    ],
)
def test_one_cell_can_prove_the_mark(text: str, mark: DecimalMark) -> None:
    assert decided(cell(text)) is mark


def test_a_quantity_without_fractions_proves_its_separator() -> None:
    """117.344 nsecond in a German file is 117344 ns; in an English one it would be 117,344."""
    assert decided(cell("117.344", whole=True)) is COMMA
    assert decided(cell("117,344", whole=True)) is POINT


def test_six_decimals_after_a_point_prove_nothing() -> None:
    assert decided(cell("0.011360"), cell("1.530.000"), cell("0,27")) is COMMA
    assert decide_format([cell("0.011360")], path="x").parse("0.011360") == 0.01136
    german = NumberFormat(decimal=COMMA, reason="")
    assert german.parse("0.011360") == 0.01136
    assert german.parse("1.530.000") == 1_530_000
    assert german.parse("0,27") == 0.27
    assert german.parse("117.344") == 117_344


def test_what_only_a_guess_would_tell_is_refused_and_named() -> None:
    with pytest.raises(DataFormatError, match=r"'117\.344' \(line 3, metric\).*--decimal"):
        decided(cell("117.344"))
    assert decide_format([cell("117.344")], path="x", forced=POINT).parse("117.344") == 117.344


def test_two_locales_in_one_file_are_refused() -> None:
    with pytest.raises(DataFormatError, match="numbers of two locales"):
        decided(cell("1,5"), cell("2.5"))


@pytest.mark.parametrize(
    "text", ["", "abc", "1.2.3", "1,23,4", "12 34", "1,,000", "0x10", "1e5000x", "--1", "1 234 56"]
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert NumberFormat(decimal=POINT, reason="").parse(text) is None


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f", "\u2009", "'", "\u2019"])
def test_spaces_and_apostrophes_group(space: str) -> None:
    assert NumberFormat(decimal=POINT, reason="").parse(f"1{space}234{space}567") == 1_234_567


@given(st.integers(0, 10**15), st.sampled_from(DecimalMark))
def test_grouped_whole_numbers_read_back(number: int, mark: DecimalMark) -> None:
    text = f"{number:,}".replace(",", mark.other.character)
    assert NumberFormat(decimal=mark, reason="").parse(text) == number


@given(st.decimals(0, 10**9, places=2), st.sampled_from(DecimalMark))
def test_grouped_fractions_read_back(number: object, mark: DecimalMark) -> None:
    english = f"{number:,.2f}"
    text = english if mark is POINT else english.translate(str.maketrans(",.", ".,"))
    assert NumberFormat(decimal=mark, reason="").parse(text) == float(english.replace(",", ""))
