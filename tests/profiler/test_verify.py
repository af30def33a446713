"""The comparison must let right results through and refuse each kind of wrong one."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.errors import VerificationError
from rooflens.kernels.softmax import SOFTMAX, SoftmaxSize
from rooflens.kernels.spec import Array, Tolerance
from rooflens.precision import DType
from rooflens.profiler.verify import compare

EXACT = Tolerance(absolute=0.0, relative=1e-6, reason="test")
SIZE = SoftmaxSize(rows=9, cols=1023)


def problem() -> tuple[dict[str, Array], dict[str, Array]]:
    inputs = SOFTMAX.make_inputs(SIZE, DType.FLOAT32, np.random.default_rng(1))
    return inputs, SOFTMAX.reference(inputs, SIZE)


def right(x: Array, truth: Array) -> Array:
    return truth.astype(np.float32)


def zeros(x: Array, truth: Array) -> Array:
    return np.zeros_like(x)


def skips_tail(x: Array, truth: Array) -> Array:
    out = np.full_like(x, np.nan)  # as the poison left it
    out[:, :1020] = truth[:, :1020]
    return out


def no_max_subtraction(x: Array, truth: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(x)
        return np.asarray(e / e.sum(axis=1, keepdims=True))


def no_broadcast(x: Array, truth: Array) -> Array:
    """Only lane 0 divides by the whole sum; every other lane by a 32nd of the row's sum."""
    out = truth.astype(np.float32)
    out[:, np.arange(SIZE.cols) % 32 != 0] *= np.float32(32)
    return out


def reads_past_row(x: Array, truth: Array) -> Array:
    following = np.append(x[1:, 0], np.float32(np.nan))
    longer = np.concatenate([x, following[:, None]], axis=1).astype(np.float64)
    with np.errstate(invalid="ignore"):
        e = np.exp(longer - np.max(longer, axis=1, keepdims=True))
        return np.asarray((e / e.sum(axis=1, keepdims=True))[:, :-1].astype(np.float32))


def earlier_run(x: Array, truth: Array) -> Array:
    """Nothing written: the output still holds the poison."""
    return np.full_like(x, np.nan)


def off_by_one_row(x: Array, truth: Array) -> Array:
    return np.roll(truth, 1, axis=0).astype(np.float32)


def masked_row_is_nan(x: Array, truth: Array) -> Array:
    out = truth.astype(np.float32)
    out[-1] = np.nan
    return out


def half_precision(x: Array, truth: Array) -> Array:
    return truth.astype(np.float16).astype(np.float32)


def test_a_right_result_passes_with_its_errors() -> None:
    inputs, references = problem()
    outputs = {"y": right(inputs["x"], references["y"])}
    found = compare(outputs, references, SOFTMAX.tolerance(SIZE, DType.FLOAT32))
    assert found.passed, found.failure
    assert found.relative_l2_error is not None
    assert 0 < found.relative_l2_error < 2**-24
    assert found.failure is None


@pytest.mark.parametrize(
    "planted",
    [
        zeros,
        skips_tail,
        no_max_subtraction,
        no_broadcast,
        reads_past_row,
        earlier_run,
        off_by_one_row,
        masked_row_is_nan,
        half_precision,
    ],
)
def test_a_wrong_result_is_refused(planted: Callable[[Array, Array], Array]) -> None:
    inputs, references = problem()
    outputs = {"y": planted(inputs["x"], references["y"])}
    found = compare(outputs, references, SOFTMAX.tolerance(SIZE, DType.FLOAT32))
    assert not found.passed
    assert found.failure is not None
    assert "elements of y are out of tolerance" in found.failure


def test_errors_by_hand() -> None:
    found = compare(
        {"y": np.array([3.0, 4.5], dtype=np.float32)},
        {"y": np.array([3.0, 4.0])},
        Tolerance(absolute=0.0, relative=0.1, reason="test"),
    )
    assert not found.passed
    assert found.max_abs_error == 0.5
    assert found.relative_l2_error == 0.1  # 0.5 / |(3, 4)| = 0.5 / 5
    assert found.failure == (
        "1 of 2 elements of y are out of tolerance; worst at [1]: got 4.5, expected 4.0"
    )


@pytest.mark.parametrize(
    ("out", "ref", "passes"),
    [
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.nan, 1.0, False),
        (1.0, np.nan, False),
        (-np.inf, np.inf, False),
        (1e30, np.inf, False),
        (np.inf, 1.0, False),
        (0.0, -0.0, True),
    ],
)
def test_values_that_are_not_finite(out: float, ref: float, passes: bool) -> None:
    found = compare({"y": np.array([out], np.float32)}, {"y": np.array([ref])}, EXACT)
    assert found.passed is passes
    if not passes:
        assert found.max_abs_error is None
        assert found.relative_l2_error is None


def test_the_worst_element_is_named_across_chunks() -> None:
    reference = np.ones((3, 1 << 21))
    output = reference.astype(np.float32)
    output[0, 5] = 1.5
    output[2, 7] = 9.0
    found = compare({"y": output}, {"y": reference}, EXACT)
    assert found.failure is not None
    assert found.failure.startswith("2 of 6291456 elements")
    assert "worst at [2, 7]: got 9.0" in found.failure


def test_names_and_shapes_must_agree() -> None:
    with pytest.raises(VerificationError, match="compared with"):
        compare({"z": np.zeros(1)}, {"y": np.zeros(1)}, EXACT)
    with pytest.raises(VerificationError, match="shape"):
        compare({"y": np.zeros((2, 1))}, {"y": np.zeros((1, 2))}, EXACT)


@given(
    values=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40),
    error=st.floats(2e-6, 1.0),
    where=st.integers(0, 39),
)
def test_any_element_over_its_limit_is_caught(
    values: list[float], error: float, where: int
) -> None:
    reference = np.asarray(values, dtype=np.float64)
    output = reference.copy()
    index = where % len(values)
    output[index] += (abs(reference[index]) * error) or 1e-3
    assert compare({"y": reference.copy()}, {"y": reference}, EXACT).passed
    assert not compare({"y": output}, {"y": reference}, EXACT).passed
