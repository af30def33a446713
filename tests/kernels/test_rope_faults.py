"""Right rope results pass, at long sequences too, and wrong ones are refused."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from rooflens.kernels.rope import KERNELS, ROPE, RopeSize
from rooflens.kernels.spec import Array
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.verify import compare

SIZE = RopeSize(seq=300, heads=3, dim=66)
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


def draw(size: RopeSize, dtype: DType = DType.FLOAT32, seed: int = 1) -> dict[str, Array]:
    return ROPE.make_inputs(size, dtype, np.random.default_rng(seed))


def angles32(size: RopeSize) -> Array:
    """Angles as the kernels compute them: float32 at every step."""
    step = np.float32(-2.0 * math.log2(10000.0) / size.dim)
    powers = np.exp2(np.arange(size.dim // 2, dtype=np.float32) * step)
    angles: Array = np.arange(size.seq, dtype=np.float32)[:, None] * powers
    assert angles.dtype == np.float32
    return angles


def turned(x: Array, angles: Array) -> Array:
    """Adjacent pairs turned in float32."""
    cosine, sine = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    y = np.empty_like(x)
    y[..., 0::2] = x[..., 0::2] * cosine - x[..., 1::2] * sine
    y[..., 1::2] = x[..., 0::2] * sine + x[..., 1::2] * cosine
    return y


def right(x: Array, size: RopeSize) -> Array:
    return turned(x, angles32(size))


def other_layout(x: Array, size: RopeSize) -> Array:
    half = size.dim // 2
    y = turned(np.stack((x[..., :half], x[..., half:]), -1).reshape(x.shape), angles32(size))
    return np.concatenate((y[..., 0::2], y[..., 1::2]), -1)


def backwards(x: Array, size: RopeSize) -> Array:
    return turned(x, -angles32(size))


def from_one(x: Array, size: RopeSize) -> Array:
    return turned(x, angles32(replace(size, seq=size.seq + 1))[1:])


def half_exponent(x: Array, size: RopeSize) -> Array:
    return turned(x, angles32(replace(size, dim=2 * size.dim))[:, : size.dim // 2])


def overwrites(x: Array, size: RopeSize) -> Array:
    y, angles = right(x, size), angles32(size)
    cosine, sine = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    y[..., 1::2] = y[..., 0::2] * sine + x[..., 1::2] * cosine
    return y


def narrow_position(x: Array, size: RopeSize) -> Array:
    """Positions kept in bfloat16."""
    positions = np.arange(size.seq).astype(numpy_type(DType.BFLOAT16)).astype(int)
    return turned(x, angles32(size)[np.minimum(positions, size.seq - 1)])


def narrow_angle(x: Array, size: RopeSize) -> Array:
    """Angles kept in float16."""
    angles = angles32(size).astype(np.float16).astype(np.float32)
    return turned(x, angles)


def head_as_position(x: Array, size: RopeSize) -> Array:
    swapped = replace(size, seq=size.heads, heads=size.seq)
    return turned(x.swapaxes(0, 1), angles32(swapped)).swapaxes(0, 1)


def skips_last_head(x: Array, size: RopeSize) -> Array:
    y = right(x, size)
    y[:, -1] = np.nan  # as the poison left it
    return y


Result = Callable[[Array, RopeSize], Array]
FAULTS: tuple[Result, ...] = (
    other_layout,
    backwards,
    from_one,
    half_exponent,
    overwrites,
    narrow_position,
    narrow_angle,
    head_as_position,
    skips_last_head,
)


def passes(result: Result, size: RopeSize, dtype: DType) -> bool:
    inputs = draw(size, dtype)
    out = result(inputs["x"].astype(np.float32), size).astype(numpy_type(dtype))
    truth = ROPE.reference(inputs, size)
    return compare({"y": out}, truth, ROPE.tolerance(size, dtype)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "size",
    [SIZE, RopeSize(seq=1, heads=1, dim=2), RopeSize(seq=2048, heads=2, dim=128)],
    ids=str,
)
def test_a_right_result_passes(size: RopeSize, dtype: DType) -> None:
    assert passes(right, size, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_a_wrong_result_is_refused(fault: Result, dtype: DType) -> None:
    assert not passes(fault, SIZE, dtype)


@pytest.mark.parametrize("seq", [2048, 131_072])
def test_float32_angles_need_the_tolerance_they_are_given(seq: int) -> None:
    """Right at long sequences too, with an error that is no small part of the limit."""
    size = RopeSize(seq=seq, heads=1, dim=32)
    inputs = draw(size)
    truth, limit = ROPE.reference(inputs, size), ROPE.tolerance(size, DType.FLOAT32)
    found = compare({"y": right(inputs["x"], size)}, truth, limit)
    assert found.passed, found.failure
    assert found.max_abs_error is not None
    assert found.max_abs_error > limit.absolute / 30


def through_tables(size: RopeSize, tables: DType) -> tuple[Array, Array]:
    """A float32 result from cosines and sines that were stored so, and its reference."""
    inputs = draw(size)
    kept = numpy_type(tables)
    cosine, sine = (
        inputs[name].astype(kept).astype(np.float32)[:, None, :] for name in ("cosines", "sines")
    )
    a, b = inputs["x"][..., 0::2], inputs["x"][..., 1::2]
    y = np.stack((a * cosine - b * sine, a * sine + b * cosine), -1).reshape(inputs["x"].shape)
    return y, ROPE.reference(inputs, size)["y"]


def test_a_table_is_more_exact_than_float32_angles() -> None:
    size = RopeSize(seq=2048, heads=1, dim=128)
    y, truth = through_tables(size, DType.FLOAT32)
    of_table = np.abs(y - truth).max()
    of_angles = np.abs(right(draw(size)["x"], size) - truth).max()
    assert of_table < 6e-7 < 20 * of_table < of_angles


@pytest.mark.parametrize("seq", [2048, 131_072])
def test_tables_have_a_tolerance_of_their_own(seq: int) -> None:
    """A table in a narrower type would pass for right among float32 angles at long sequences."""
    (table,) = (kernel for kernel in KERNELS if kernel.variant == "table")
    size = RopeSize(seq=seq, heads=1, dim=32)
    limit, of_family = table.allowed(size, DType.FLOAT32), ROPE.tolerance(size, DType.FLOAT32)
    y, truth = through_tables(size, DType.FLOAT32)
    assert compare({"y": y}, {"y": truth}, limit).passed
    for narrow in (DType.FLOAT16, DType.BFLOAT16):
        y, _ = through_tables(size, narrow)
        assert not compare({"y": y}, {"y": truth}, limit).passed
    assert compare({"y": y}, {"y": truth}, of_family).passed == (seq == 131_072)
    assert [one.variant for one in KERNELS if one.allowed is not ROPE.tolerance] == ["table"]
