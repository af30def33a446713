"""Formatting for people, against values worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens import units


@pytest.mark.parametrize(
    ("value_s", "text"),
    [
        (3.22e-6, "3.22 us"),
        (0.51e-6, "0.51 us"),
        (0.5149e-6, "0.51 us"),
        (209.5e-6, "210 us"),
        (21.5e-6, "21.5 us"),
        (1.25e-3, "1.25 ms"),
        (21.509e-3, "21.5 ms"),
        (9.994e-6, "9.99 us"),
        (9.996e-6, "10.0 us"),
        (99.94e-6, "99.9 us"),
        (99.96e-6, "100 us"),
        (999.4e-6, "999 us"),
        (999.96e-6, "1.00 ms"),
        (0.99996, "1.00 s"),
        (51.3e-9, "51.3 ns"),
        (0.4e-12, "0.0004 ns"),
        (1e-30, "1e-21 ns"),
        (12345.0, "12345 s"),
        (1.5e30, "1.50e+30 s"),
        (0.0, "0 us"),
        (-3.22e-6, "-3.22 us"),
        (-999.96e-6, "-1.00 ms"),
        (-51.3e-9, "-51.3 ns"),
        (math.nan, "nan s"),
        (math.inf, "inf s"),
        (-math.inf, "-inf s"),
        (None, "-"),
    ],
)
def test_seconds(value_s: float | None, text: str) -> None:
    assert units.seconds(value_s) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (512, "512 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (4194304, "4.19 MB"),
        (999_950_000, "1.00 GB"),
        (62914560, "62.9 MB"),
        (141e9, "141 GB"),
        (1 << 70, "1181 EB"),
        (-4194304, "-4.19 MB"),
        (math.nan, "nan B"),
        (None, "-"),
    ],
)
def test_byte_count(value: float | None, text: str) -> None:
    assert units.byte_count(value) == text


def test_rates_and_frequencies() -> None:
    assert units.byte_rate(2.563e12) == "2.56 TB/s"
    assert units.byte_rate(1008e9) == "1.01 TB/s"
    assert units.byte_rate(None) == "-"
    assert units.flop_rate(82.6e12) == "82.6 TFLOP/s"
    assert units.flop_rate(999.7e12) == "1.00 PFLOP/s"
    assert units.flop_rate(None) == "-"
    assert units.hertz(1.98e9) == "1.98 GHz"
    assert units.hertz(None) == "-"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (128, "128"),
        (999_999, "999999"),
        (1_000_000, "1.00 M"),
        (16_777_216, "16.8 M"),
        (-5, "-5"),
        (None, "-"),
    ],
)
def test_count(value: int | None, text: str) -> None:
    assert units.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.941, "94.1 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (1.3, "130 %"),
        (0.9996, "100 %"),
        (0.0041, "0.410 %"),
        (0.00041, "0.041 %"),
        (0.00009, "< 0.01 %"),
        (25.0, "2500 %"),
        (-0.5, "-50.0 %"),
        (math.inf, "inf %"),
        (None, "-"),
    ],
)
def test_fraction(value: float | None, text: str) -> None:
    assert units.fraction(value) == text


def test_number() -> None:
    assert units.number(81.944) == "81.9"
    assert units.number(1.25) == "1.25"
    assert units.number(0.625) == "0.625"
    assert units.number(0.9996) == "1.00"
    assert units.number(-0.625) == "-0.625"
    assert units.number(2563.4) == "2563"
    assert units.number(math.nan) == "nan"
    assert units.number(None) == "-"


_FACTORS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@given(st.floats(min_value=1e-12, max_value=1e5))
def test_a_printed_time_is_the_time_to_one_percent(value_s: float) -> None:
    """Read back, the text is within half of its last digit: 5 % at 0.1 us, else about 0.5 %."""
    text, unit = units.seconds(value_s).split()
    tolerance = 0.05 if unit == "us" and value_s < 1e-6 else 0.0051
    assert math.isclose(float(text) * _FACTORS[unit], value_s, rel_tol=tolerance)
    assert unit == "s" or float(text) < 1000
