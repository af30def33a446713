"""What all rope variants compute, and how their results are checked.

Pair i of a head turns by position * base^(-2i / dim). In most variants pair i is the neighbouring
elements (2i, 2i + 1); half_rotation takes (i, i + dim / 2) and has a reference of its own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflens.kernels.rowwise import UNIT, stored
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.terms import SizeSet

BASE = 10000.0
# Magnitudes of x. A rotation is linear, so that a wide range would only widen the tolerance.
SMALLEST, LARGEST = 0.25, 2.0
LARGEST_RADIUS = math.sqrt(2.0) * LARGEST
# Radians by which an angle in float32 may be off. Variants that compute angles refuse sizes at
# which it could be more: a wrong result would pass for a right one.
LARGEST_ANGLE_ERROR = 0.25
EXACT_POSITIONS = 2**24  # positions up to this are exact in float32
CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class RopeSize(Size):
    """seq positions x heads x dim, row-major; the row index is the position."""

    seq: int
    heads: int
    dim: int


def frequencies(size: RopeSize) -> Array:
    """base^(-2i / dim) for each pair i, in float64: radians a position."""
    pairs = size.dim // 2
    powers: Array = np.power(BASE, -2.0 * np.arange(pairs, dtype=np.float64) / size.dim)
    return powers


def make_inputs(size: RopeSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """x [seq, heads, dim] in the storage type; cosines and sines [seq, dim / 2] in float32.

    Elements of x have both signs and magnitudes from SMALLEST to LARGEST, so that none may be
    missing, out of place or of the other sign. The tables are rounded from float64.
    """
    shape = (size.seq, size.heads, size.dim)
    x = rng.random(shape, dtype=np.float32)
    x *= np.float32(2 * (LARGEST - SMALLEST))
    x -= np.float32(LARGEST - SMALLEST)
    x += np.copysign(np.float32(SMALLEST), x)
    cosines = np.empty((size.seq, size.dim // 2), dtype=np.float32)
    sines = np.empty_like(cosines)
    powers = frequencies(size)
    step = max(1, CHUNK_ELEMENTS // size.dim)
    for start in range(0, size.seq, step):
        part = slice(start, min(start + step, size.seq))
        angles = np.outer(np.arange(part.start, part.stop, dtype=np.float64), powers)
        cosines[part], sines[part] = np.cos(angles), np.sin(angles)
    return {"x": x.astype(numpy_type(dtype), copy=False), "cosines": cosines, "sines": sines}


def reference(inputs: Mapping[str, Array], size: RopeSize) -> dict[str, Array]:
    """y where elements (2i, 2i + 1) of each head are pair i; see rotate."""
    return {"y": rotate(inputs["x"], size, slice(0, None, 2), slice(1, None, 2))}


def half_reference(inputs: Mapping[str, Array], size: RopeSize) -> dict[str, Array]:
    """y where elements (i, i + dim / 2) of each head are pair i; see rotate."""
    half = size.dim // 2
    return {"y": rotate(inputs["x"], size, slice(0, half), slice(half, None))}


def rotate(x: Array, size: RopeSize, first: slice, second: slice) -> Array:
    """Turns each pair (a, b) by its angle t to (a cos t - b sin t, a sin t + b cos t), in float64.

    `first` and `second` are where the partners lie in a head, in the order of the pairs. Angles are
    computed here, whatever tables hold. A run of positions at a time, to bound temporaries.
    """
    y = np.empty((size.seq, size.heads, size.dim), dtype=np.float64)
    powers = frequencies(size)
    step = max(1, CHUNK_ELEMENTS // (size.heads * size.dim))
    for start in range(0, size.seq, step):
        part = slice(start, min(start + step, size.seq))
        angles = np.outer(np.arange(part.start, part.stop, dtype=np.float64), powers)
        cosine, sine = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
        a, b = (x[part, :, where].astype(np.float64) for where in (first, second))
        with np.errstate(invalid="ignore"):  # inf - inf and inf * 0, NaN as defined
            y[part, :, first] = a * cosine - b * sine
            y[part, :, second] = a * sine + b * cosine
    return y


def angle_errors(size: RopeSize) -> Array:
    """Radians by which float(position) * exp2f(float(pair) * step) may be off, for each pair.

    With the exponent a = pair * |step| (the powers of two that a frequency is below 1): rounding
    step and rounding its product move the frequency by 2 a ln 2 half-units in the last place,
    exp2f by 4 (2 units), the product with the position by 1. Pair 0 has the frequency 1, exactly.
    """
    exponents = 2.0 * np.arange(size.dim // 2) * math.log2(BASE) / size.dim
    half_units = 2.0 * math.log(2.0) * exponents + 4.0 + 1.0
    half_units[:1] = 0.0
    if size.seq - 1 > EXACT_POSITIONS:
        half_units += 1.0
    errors: Array = (size.seq - 1) * UNIT * half_units * frequencies(size)
    return errors


def angle_error(size: RopeSize) -> float:
    """The largest of angle_errors."""
    return float(angle_errors(size).max(initial=0.0))


def tolerance(size: RopeSize, dtype: DType) -> Tolerance:
    """Limits for float32 angles and arithmetic, then rounding."""
    angle = min(angle_error(size), LARGEST_ANGLE_ERROR)
    float32 = Tolerance(
        absolute=LARGEST_RADIUS * (angle + 6 * UNIT),
        relative=UNIT,
        reason=(
            f"float32: a float32 angle at position {size.seq - 1} may be off by {angle:.2g} radians"
            f" (exp2f errs by 4 half-units in the last place, its exponent and the product by a few"
            f" more), which moves a pair, of at most {LARGEST_RADIUS:.3g}, along its circle; sine "
            "and cosine err by 4 half-units of the pair, the products by 1, and second order is "
            "left 1; the sum errs by 1 of the result"
        ),
    )
    return stored(dtype, float32)


def table_tolerance(size: RopeSize, dtype: DType) -> Tolerance:
    """For cosines and sines from float32 tables: rounded once, whatever the position."""
    float32 = Tolerance(
        absolute=LARGEST_RADIUS * 4 * UNIT,
        relative=UNIT,
        reason=(
            f"float32: a pair is at most {LARGEST_RADIUS:.3g} long; tables are cosines and sines "
            "rounded to float32, by 1 half-unit, the products err by 1 more, and second order is "
            "left 2; the sum errs by 1 of the result"
        ),
    )
    return stored(dtype, float32)


ROPE = Family(
    name="rope",
    title="rotary position embedding",
    size_type=RopeSize,
    sizes={
        SizeSet.SEED: (RopeSize(seq=2048, heads=32, dim=128),),
        SizeSet.DRAM: (RopeSize(seq=16384, heads=32, dim=128),),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
