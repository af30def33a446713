"""What all softmax variants compute, and how their results are checked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflens.kernels.rowwise import UNIT, stored
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.terms import SizeSet

# A third of the rows overflow without the maximum subtracted, a third underflow to 0 / 0, and a
# row's neighbour is larger than itself, so that reading past its end shows.
ROW_OFFSETS = (100.0, 0.0, -200.0, 50.0)
OUTLIER_SHARE = 1e-3
OUTLIER_FACTOR = 10.0
MASKED_SHARE = 1e-3
CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxSize(Size):
    """Row-major matrix of rows x cols; each row is normalised by itself."""

    rows: int
    cols: int


def make_inputs(size: SoftmaxSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """x [rows, cols] as stored: normal, with outliers, offsets by row and -inf as masks leave it.

    The last row of three or more is all -inf.
    """
    count = size.rows * size.cols
    x = rng.standard_normal(count, dtype=np.float32)
    x[rng.integers(0, count, size=int(count * OUTLIER_SHARE))] *= np.float32(OUTLIER_FACTOR)
    matrix = x.reshape(size.rows, size.cols)
    offsets = np.resize(np.asarray(ROW_OFFSETS, dtype=np.float32), size.rows)
    matrix += offsets[:, None]
    x[rng.integers(0, count, size=int(count * MASKED_SHARE))] = -np.inf
    if size.rows >= 3:
        matrix[-1] = -np.inf
    return {"x": matrix.astype(numpy_type(dtype), copy=False)}


def reference(inputs: Mapping[str, Array], size: SoftmaxSize) -> dict[str, Array]:
    """y[r, c] = exp(x[r, c] - m[r]) / sum over c of exp(x[r, c] - m[r]), m the row's maximum.

    A row of -inf alone has no mass to share out: it is defined as zeros. A NaN or +inf makes its
    whole row NaN. Computed in float64, a block of rows at a time to bound temporaries.
    """
    x = inputs["x"]
    y = np.empty((size.rows, size.cols), dtype=np.float64)
    step = max(1, CHUNK_ELEMENTS // size.cols)
    for start in range(0, size.rows, step):
        part = x[start : start + step].astype(np.float64)
        maxima = part.max(axis=1, keepdims=True)
        maxima[maxima == -np.inf] = 0.0
        with np.errstate(invalid="ignore"):  # inf - inf in a row that becomes NaN as defined
            np.subtract(part, maxima, out=part)
        np.exp(part, out=part)
        sums = part.sum(axis=1, keepdims=True)
        sums[sums == 0.0] = 1.0
        np.divide(part, sums, out=y[start : start + step])
    return {"y": y}


def tolerance(size: SoftmaxSize, dtype: DType) -> Tolerance:
    """Elementwise limits for float32 arithmetic with sums of up to cols terms, then rounding."""
    float32 = Tolerance(
        absolute=1e-37,
        relative=UNIT * (96 + size.cols / 32),
        reason=(
            "float32: rounding x - max, up to about 80, moves exp by 80 half-units in the last "
            "place, expf and the division add a few, and a chain of n additions errs by up to n "
            "half-units, where the longest has cols / 32 (a lane of a warp that owns a row); "
            "results under 1e-37 are subnormal"
        ),
    )
    return stored(dtype, float32)


SOFTMAX = Family(
    name="softmax",
    title="softmax over rows",
    size_type=SoftmaxSize,
    sizes={
        SizeSet.SEED: (SoftmaxSize(rows=128, cols=4096),),
        SizeSet.DRAM: (SoftmaxSize(rows=16384, cols=4096), SoftmaxSize(rows=8192, cols=32768)),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
