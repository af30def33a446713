"""Units as whole tokens, and what one means in SI."""

import pytest

from rooflens.analysis.readers.report_units import Dimension, unit_of


@pytest.mark.parametrize(
    ("token", "value", "si", "dimension"),
    [
        ("ns", 42496, 42.496e-6, Dimension.TIME),
        ("nsecond", 42496, 42.496e-6, Dimension.TIME),
        ("us", 42.496, 42.496e-6, Dimension.TIME),
        ("usecond", 1, 1e-6, Dimension.TIME),
        ("ms", 1, 1e-3, Dimension.TIME),
        ("msecond", 1, 1e-3, Dimension.TIME),
        ("second", 2, 2.0, Dimension.TIME),
        ("s", 2, 2.0, Dimension.TIME),
        ("byte", 7, 7.0, Dimension.BYTES),
        ("Kbyte", 1.5, 1500.0, Dimension.BYTES),
        ("Mbyte", 1, 1e6, Dimension.BYTES),
        ("Gbyte", 1, 1e9, Dimension.BYTES),
        ("Tbyte", 1, 1e12, Dimension.BYTES),
        ("byte/second", 3, 3.0, Dimension.BYTE_RATE),
        ("Gbyte/second", 3, 3e9, Dimension.BYTE_RATE),
        ("Tbyte/s", 3, 3e12, Dimension.BYTE_RATE),
        ("byte/ns", 3, 3e9, Dimension.BYTE_RATE),
        ("Kbyte/cycle", 2, 2000.0, Dimension.BYTES),
        ("hz", 5, 5.0, Dimension.FREQUENCY),
        ("Ghz", 1.98, 1.98e9, Dimension.FREQUENCY),
        ("cycle/nsecond", 1.5, 1.5e9, Dimension.FREQUENCY),
        ("cycle/usecond", 1.5, 1.5e6, Dimension.FREQUENCY),
        ("1/ns", 1.5, 1.5e9, Dimension.FREQUENCY),
        ("%", 50, 0.5, Dimension.FRACTION),
        ("inst", 9, 9.0, Dimension.COUNT),
        ("inst/cycle", 9, 9.0, Dimension.COUNT),
        ("register/thread", 32, 32.0, Dimension.COUNT),
        ("", 9, 9.0, Dimension.COUNT),
    ],
)
def test_a_token_is_read_whole(token: str, value: float, si: float, dimension: Dimension) -> None:
    unit = unit_of(token)
    assert unit is not None
    assert unit.dimension is dimension
    assert unit.to_si(value) == si


@pytest.mark.parametrize(
    "token", ["nss", "n", "ks", "mbytes/", "byte/byte", "/s", "ghz/s", "furlong", "us us", "%s"]
)
def test_what_is_no_unit_is_none(token: str) -> None:
    assert unit_of(token) is None
