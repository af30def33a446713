"""What all swiglu variants compute, and how their results are checked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflens.kernels.rowwise import UNIT, stored
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.terms import SizeSet

# Gates past +-88 overflow exp(gate) or exp(-gate) in float32; results still fit a float16.
LARGE_GATE_SHARE = 1e-2
LARGE_GATE_FACTOR = 40.0
MASKED_SHARE = 1e-3
OUTLIER_SHARE = 1e-3
OUTLIER_FACTOR = 10.0
CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class SwigluSize(Size):
    """Row-major matrices of rows (tokens) x cols (intermediate width)."""

    rows: int
    cols: int


def make_inputs(size: SwigluSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """gate and up, [rows, cols] in the storage type: normal, with large gates, -inf and outliers.

    The first gates are 100, -100 and -inf as far as there is room.
    """
    count = size.rows * size.cols
    gate = rng.standard_normal(count, dtype=np.float32)
    up = rng.standard_normal(count, dtype=np.float32)
    large = rng.integers(0, count, size=int(count * LARGE_GATE_SHARE))
    gate[large] = LARGE_GATE_FACTOR * rng.standard_normal(large.size, dtype=np.float32)
    gate[rng.integers(0, count, size=int(count * MASKED_SHARE))] = -np.inf
    up[rng.integers(0, count, size=int(count * OUTLIER_SHARE))] *= np.float32(OUTLIER_FACTOR)
    first = (100.0, -100.0, -np.inf)[:count]
    gate[: len(first)] = first
    shape, stored_type = (size.rows, size.cols), numpy_type(dtype)
    return {
        "gate": gate.reshape(shape).astype(stored_type, copy=False),
        "up": up.reshape(shape).astype(stored_type, copy=False),
    }


def reference(inputs: Mapping[str, Array], size: SwigluSize) -> dict[str, Array]:
    """y = gate * sigmoid(gate) * up, sigmoid(g) = 1 / (1 + exp(-g)).

    At infinite gates gate * sigmoid(gate) is its limit: 0 at -inf, +inf at +inf. Its product with
    up follows IEEE arithmetic, and a NaN makes a NaN. Computed in float64, a run of elements at a
    time to bound temporaries.
    """
    gates, ups = inputs["gate"].reshape(-1), inputs["up"].reshape(-1)
    y = np.empty(gates.size, dtype=np.float64)
    for start in range(0, gates.size, CHUNK_ELEMENTS):
        part = slice(start, start + CHUNK_ELEMENTS)
        gate, up = gates[part].astype(np.float64), ups[part].astype(np.float64)
        e = np.exp(-np.abs(gate))
        sigmoid = np.where(gate < 0, e, 1.0) / (1.0 + e)
        with np.errstate(invalid="ignore"):  # inf * 0 where that is NaN as defined
            silu = np.where(gate == -np.inf, 0.0, gate * sigmoid)
            y[part] = silu * up
    return {"y": y.reshape(size.rows, size.cols)}


def tolerance(size: SwigluSize, dtype: DType) -> Tolerance:
    """Elementwise limits for float32 arithmetic, then rounding; the size plays no part."""
    float32 = Tolerance(
        absolute=1e-37,
        relative=16 * UNIT,
        reason=(
            "float32: expf errs by 4 half-units in the last place, which the divisor sees again by "
            "up to 2, the addition adds 1, the fast division 4, two products 1 each, and second "
            "order is left 3; results under 1e-37 stem from subnormal exponentials"
        ),
    )
    return stored(dtype, float32)


SWIGLU = Family(
    name="swiglu",
    title="gate * sigmoid(gate) * up",
    size_type=SwigluSize,
    sizes={
        SizeSet.SEED: (SwigluSize(rows=2048, cols=11008),),
        SizeSet.DRAM: (SwigluSize(rows=8192, cols=14336),),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
