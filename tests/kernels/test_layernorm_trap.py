"""The trap of layernorm, by NumPy in float32 in the order of the kernels' additions."""

from collections.abc import Callable

import numpy as np
import pytest

from rooflens.kernels.layernorm.trap import TRAP_SIZE, trap_errors, trap_inputs
from rooflens.kernels.spec import Array

THREADS = 256
COLS = np.float32(TRAP_SIZE.cols)
Parts = tuple[Array, ...]


def strips(x: Array) -> list[Array]:
    """What the threads of a block take in at each step."""
    return [x[:, start : start + THREADS] for start in range(0, x.shape[1], THREADS)]


def tree(parts: Parts, merge: Callable[[Parts, Parts], Parts]) -> Parts:
    """The shared-memory tree: each step merges the upper half of the threads into the lower."""
    width = THREADS
    while width > 1:
        width //= 2
        low = tuple(one[:, :width] for one in parts)
        parts = merge(low, tuple(one[:, width : 2 * width] for one in parts))
    return parts


def add(a: Parts, b: Parts) -> Parts:
    return tuple(one + other for one, other in zip(a, b, strict=True))


def zero(x: Array) -> Array:
    return np.zeros((x.shape[0], THREADS), dtype=np.float32)


def sum_squares(x: Array) -> tuple[Array, Array]:
    """Mean and variance as E[x^2] - mean^2."""
    values, squares = zero(x), zero(x)
    for strip in strips(x):
        values, squares = values + strip, squares + strip * strip
    values, squares = tree((values, squares), add)
    mean = values / COLS
    return mean, squares / COLS - mean * mean


def welford(x: Array) -> tuple[Array, Array]:
    """Mean and variance by Welford's recurrence and Chan's merge."""
    mean, m2, count = zero(x), zero(x), zero(x)
    for strip in strips(x):
        count = count + np.float32(1)
        delta = strip - mean
        mean = mean + delta / count
        m2 = m2 + delta * (strip - mean)

    def merge(a: Parts, b: Parts) -> Parts:
        total, delta = a[2] + b[2], b[0] - a[0]
        share = b[2] / total
        return a[0] + delta * share, a[1] + b[1] + delta * delta * a[2] * share, total

    mean, m2, _ = tree((mean, m2, count), merge)
    return mean, m2 / COLS


def two_pass(x: Array) -> tuple[Array, Array, Array]:
    """Mean, variance about it, and what the deviations' mean says the rounded mean lacks."""
    values = zero(x)
    for strip in strips(x):
        values = values + strip
    mean = tree((values,), add)[0] / COLS
    total, squares = zero(x), zero(x)
    for strip in strips(x):
        total, squares = total + (strip - mean), squares + (strip - mean) * (strip - mean)
    total, squares = tree((total, squares), add)
    shift = total / COLS
    return mean, (squares - total * shift) / COLS, shift


@pytest.fixture(scope="module")
def trap() -> dict[str, Array]:
    """The inputs of the trap."""
    return trap_inputs(TRAP_SIZE, np.random.default_rng(0))


def row_errors(trap: dict[str, Array], mean: Array, variance: Array, shift: Array) -> Array:
    """Errors of what these statistics make of x, in float32."""
    with np.errstate(invalid="ignore"):  # the root of a negative variance
        scale = 1 / np.sqrt(variance + np.float32(1e-5))
    y = ((trap["x"] - mean) - shift) * scale
    assert y.dtype == np.float32
    return trap_errors(y, trap)


NO_SHIFT = np.zeros(1, dtype=np.float32)


def test_the_trap_is_what_it_says(trap: dict[str, Array]) -> None:
    x = trap["x"]
    assert x.dtype == np.float32
    assert x.shape == (128, 4096)
    wide = x.astype(np.float64)
    # The mean of 4096 values strays by 1e-2 / 64, the deviation by a 90th; 6 of those at most.
    assert np.abs(wide.mean(axis=1) - 1e4).max() < 6 * 1e-2 / 64
    assert np.abs(wide.std(axis=1) - 1e-2).max() < 6 * 1e-2 / 90
    # Steps of 2^-10 at 1e4; squares near 1e8 lie 8 apart.
    assert np.spacing(np.float32(1e4)) == 2.0**-10
    assert np.spacing(np.float32(1e8)) == 8.0


def test_the_variance_of_sum_squares_is_rounding_error(trap: dict[str, Array]) -> None:
    mean, variance = sum_squares(trap["x"])
    # The difference of two multiples of 8, where 0.0001 is right; of both signs, and 0.
    assert (variance % 8 == 0).all()
    assert variance.min() < 0 < variance.max()
    errors = row_errors(trap, mean, variance, NO_SHIFT)
    # A negative variance is NaN. At 0 epsilon alone scales: 1 / sqrt(1e-5) is 316 where 1 / sqrt(
    # 1.1e-4) = 95 is right, 3.3 for 1. At 8 or more y is about zero where its deviation is about 1.
    assert (np.isnan(errors) == (variance < 0)[:, 0]).all()
    assert errors[variance[:, 0] == 0] == pytest.approx(2.2, abs=0.2)
    assert errors[variance[:, 0] > 0] == pytest.approx(0.95, abs=0.05)


def test_welford_errs_by_the_rounding_of_the_mean(trap: dict[str, Array]) -> None:
    mean, variance = welford(trap["x"])
    errors = row_errors(trap, mean, variance, NO_SHIFT)
    truth = trap["x"].astype(np.float64).var(axis=1)
    assert np.abs(variance[:, 0] / truth - 1).max() < 0.02
    # One step of the mean, 2^-10, is 0.093 of sqrt(1.1e-4).
    assert 0.01 < errors.max() < 0.093


def test_two_pass_warp_corrects_the_mean(trap: dict[str, Array]) -> None:
    mean, variance, shift = two_pass(trap["x"])
    assert row_errors(trap, mean, variance, shift).max() < 1e-6
    # Without the correction it errs as welford does: by the rounding of the mean.
    assert row_errors(trap, mean, variance, NO_SHIFT).max() > 0.01
