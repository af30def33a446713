"""The roofline formulas: hand-worked figures of the RTX 4090, and what must always hold."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.roofline import (
    arithmetic_time,
    attainable,
    intensity,
    ridge,
    time_bound,
    transfer_time,
)
from rooflens.errors import UsageError

RATE = st.floats(min_value=1e6, max_value=1e17)
AMOUNT = st.integers(min_value=1, max_value=10**15)
INTENSITY = st.floats(min_value=1e-6, max_value=1e9)


def test_ridge_of_the_rtx_4090() -> None:
    assert ridge(82.6e12, 1008e9) == pytest.approx(81.94, abs=0.005)


def test_softmax_128_by_4096_on_the_rtx_4090() -> None:
    moved = 2 * 128 * 4096 * 4
    assert moved == 4_194_304
    assert moved / 0.0053e-3 == pytest.approx(791.4e9, rel=1e-4)
    assert transfer_time(moved, 1008e9) == pytest.approx(4.161e-6, rel=1e-3)
    # Five operations per element: 5 x 524288 / 4194304 = 0.625 FLOP/byte, 630 GFLOP/s.
    assert intensity(5 * 128 * 4096, moved) == 0.625
    assert attainable(0.625, 82.6e12, 1008e9) == 630e9
    assert time_bound(5 * 128 * 4096, moved, 82.6e12, 1008e9) == transfer_time(moved, 1008e9)


def test_gemm_4096_on_the_rtx_4090_is_bound_by_arithmetic() -> None:
    flops, moved = 2 * 4096**3, 3 * 4096**2 * 4
    assert intensity(flops, moved) == pytest.approx(682.67, abs=0.005)
    assert attainable(intensity(flops, moved), 82.6e12, 1008e9) == 82.6e12
    assert time_bound(flops, moved, 82.6e12, 1008e9) == pytest.approx(1.6639e-3, rel=1e-4)
    assert arithmetic_time(flops, 82.6e12) == time_bound(flops, moved, 82.6e12, 1008e9)


@given(RATE, RATE)
def test_the_roofs_meet_at_the_ridge(peak: float, bandwidth: float) -> None:
    meeting = ridge(peak, bandwidth)
    assert attainable(meeting, peak, bandwidth) == pytest.approx(peak, rel=1e-12)
    assert attainable(meeting / 2, peak, bandwidth) == pytest.approx(peak / 2, rel=1e-12)
    assert attainable(meeting * 2, peak, bandwidth) == peak


@given(INTENSITY, RATE, RATE, st.floats(min_value=1, max_value=1e6))
def test_more_of_anything_never_lowers_a_roof(
    at: float, peak: float, bandwidth: float, factor: float
) -> None:
    before = attainable(at, peak, bandwidth)
    assert attainable(at, peak, bandwidth * factor) >= before
    assert attainable(at, peak * factor, bandwidth) >= before
    assert attainable(at * factor, peak, bandwidth) >= before


@given(AMOUNT, AMOUNT, RATE, RATE)
def test_time_bound_is_the_roof_read_as_time(
    flops: int, moved: int, peak: float, bandwidth: float
) -> None:
    roof = attainable(intensity(flops, moved), peak, bandwidth)
    assert time_bound(flops, moved, peak, bandwidth) == pytest.approx(flops / roof, rel=1e-9)


def test_work_of_one_kind_only() -> None:
    assert time_bound(0, 1000, 1e12, 1e9) == pytest.approx(1e-6)
    assert time_bound(1000, 0, 1e9, 1e12) == pytest.approx(1e-6)
    assert intensity(0, 8) == 0.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_roofs_must_be_positive_and_finite(bad: float) -> None:
    calls: tuple[Callable[[], float], ...] = (
        lambda: ridge(bad, 1e9),
        lambda: ridge(1e9, bad),
        lambda: attainable(1.0, bad, 1e9),
        lambda: attainable(1.0, 1e9, bad),
        lambda: transfer_time(1, bad),
        lambda: arithmetic_time(1, bad),
        lambda: intensity(1, bad),
    )
    for call in calls:
        with pytest.raises(UsageError, match="positive finite"):
            call()


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_amounts_must_be_finite_and_not_negative(bad: float) -> None:
    calls: tuple[Callable[[], float], ...] = (
        lambda: intensity(bad, 1),
        lambda: attainable(bad, 1.0, 1.0),
        lambda: time_bound(bad, 1, 1.0, 1.0),
        lambda: time_bound(1, bad, 1.0, 1.0),
    )
    for call in calls:
        with pytest.raises(UsageError, match="at least 0"):
            call()
