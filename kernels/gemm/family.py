"""What all matrix products compute, and how their results are checked.

The inputs are whole numbers times a power of two, so few and so small that every product and every
partial sum, in whatever order, is exactly a float32. A variant that accumulates in float32 then has
no rounding error to be forgiven: one product left out, taken twice or taken from the wrong place
shows at any size, where the general bound k * 2^-24 * |A||B| would hide it among k = 8192 others.

That holds for tensor units too. One adds several products and an accumulator at once: it aligns all
of them to the largest and cuts off what lies below its last bit (Fasi et al., Numerical behavior of
NVIDIA tensor cores, 2021). Counted in units of UNIT^2 all of them are whole numbers, and their
magnitudes add up to 2^24 at most. If the largest is under 2^24, its first 24 bits reach down to 1
and nothing is cut off; if it is 2^24, the others are zero. A unit that keeps fewer bits than these
sums need is refused.

The price: elements use about half of float32's bits, so that a card held back by its power limit
may run a little faster than on data with every bit in use.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type, unit_roundoff
from rooflens.precision import DType
from rooflens.terms import SizeSet

# In units of UNIT^2, the magnitudes of an element's products add up to 2^24 at most, up to which
# every whole number is a float32: 2^23 for the bulk, 2^22 for wide elements of A, 2^22 for B's.
UNIT = 2.0**-5
BULK_BUDGET = 2**23
WIDE_BUDGET = 2**22
LARGEST_BULK = 127
# Wide elements need more bits than a narrower format has (float32: than TF32 and float16, float16:
# than bfloat16), so that a kernel that drops bits of its inputs shows.
WIDE_BITS = {DType.FLOAT32: 13, DType.FLOAT16: 11, DType.BFLOAT16: 8}
WIDE_SHARE = 64  # at most one wide element in so many


@dataclass(frozen=True, slots=True, kw_only=True)
class GemmSize(Size):
    """C [m, n] = A [m, k] B [k, n], all row-major."""

    m: int
    n: int
    k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactInputs:
    """Which whole numbers fill A and B so that sums over k stay exact in float32.

    Bulk elements are from -largest_bulk to largest_bulk without 0. `wide_count` places along k of
    A and as many others of B hold wide elements, odd and of WIDE_BITS bits. Every period-th place
    along k is used; the rest is zero, where k is over BULK_BUDGET.
    """

    period: int
    largest_bulk: int
    wide_count: int
    wide_bits: int

    @classmethod
    def of(cls, k: int, dtype: DType) -> "ExactInputs":
        """The most that the budgets allow for sums over k."""
        period = -(-k // BULK_BUDGET)
        used = -(-k // period)
        largest = min(LARGEST_BULK, math.isqrt(BULK_BUDGET // used))
        bits = WIDE_BITS[dtype]
        wide = min(WIDE_BUDGET // ((2**bits - 1) * largest), -(-used // WIDE_SHARE))
        return cls(period=period, largest_bulk=largest, wide_count=wide, wide_bits=bits)

    def bulk(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Bulk elements in float32, in units of UNIT."""
        return _signed(1, self.largest_bulk + 1, shape, rng)

    def wide(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Wide elements in float32, in units of UNIT."""
        numbers = _signed(2 ** (self.wide_bits - 2), 2 ** (self.wide_bits - 1), shape, rng)
        return 2 * numbers + np.sign(numbers)


def _signed(low: int, high: int, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Whole numbers of magnitude low to high - 1, either sign, in float32."""
    numbers = rng.integers(low, high, size=shape, dtype=np.int16)
    np.negative(numbers, out=numbers, where=rng.integers(0, 2, size=shape, dtype=np.bool_))
    return numbers.astype(np.float32)


def make_inputs(size: GemmSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """a [m, k] and b [k, n] in the storage type, whole multiples of UNIT as ExactInputs says."""
    exact = ExactInputs.of(size.k, dtype)
    a = exact.bulk((size.m, size.k), rng)
    b = exact.bulk((size.k, size.n), rng)
    used = np.arange(0, size.k, exact.period)
    for places, columns, vector in ((used[0::2], a, size.m), (used[1::2], b.T, size.n)):
        count = min(exact.wide_count, places.size)
        chosen = rng.choice(places, size=count, replace=False)
        columns[:, chosen] = exact.wide((vector, count), rng)
    if exact.period > 1:
        unused = np.ones(size.k, dtype=np.bool_)
        unused[used] = False
        a[:, unused] = 0.0
        b[unused, :] = 0.0
    unit, stored = np.float32(UNIT), numpy_type(dtype)
    a *= unit
    b *= unit
    return {"a": a.astype(stored, copy=False), "b": b.astype(stored, copy=False)}


def reference(inputs: Mapping[str, Array], size: GemmSize) -> dict[str, Array]:
    """c [m, n] = a b in float64, from the inputs as stored."""
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf in an element that becomes NaN as defined
        return {"c": a @ b}


def tolerance(size: GemmSize, dtype: DType) -> Tolerance:
    """None in float32, one rounding of the result in narrower storage; for these inputs alone."""
    if dtype is DType.FLOAT32:
        return Tolerance(
            absolute=0.0,
            relative=0.0,
            reason=(
                "float32: the inputs are whole multiples of 1/32 for which every product and every "
                "partial sum is exactly a float32, in any order of summation and also where a "
                "tensor unit cuts sums off behind 24 bits"
            ),
        )
    unit = unit_roundoff(dtype)
    return Tolerance(
        absolute=0.0,
        relative=unit,
        reason=(
            f"{dtype}: every product and partial sum is exactly a float32 for these inputs, also "
            f"where a tensor unit cuts sums off behind 24 bits; the result, a multiple of 1/1024 "
            f"of at most 16384 and so never subnormal, is rounded once, by at most {unit:.3g} of "
            f"itself"
        ),
    )


GEMM = Family(
    name="gemm",
    title="matrix product C = A B",
    size_type=GemmSize,
    sizes={
        SizeSet.SEED: (GemmSize(m=1024, n=1024, k=1024), GemmSize(m=4096, n=4096, k=4096)),
        SizeSet.DRAM: (GemmSize(m=8192, n=8192, k=8192),),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
