"""What all rmsnorm variants compute, and how their results are checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rooflens.kernels.rowwise import UNIT, stored
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.terms import SizeSet

EPSILON = 1e-6

# Root mean square of a row about its offset, and that offset. In the second kind of row the mean
# square is epsilon, so that a misplaced epsilon shows; squares of the third do not fit a float16;
# the mean of the fourth must not be subtracted.
ROW_KINDS = ((1.0, 0.0), (1e-3, 0.0), (300.0, 0.0), (1.0, 4.0))
OUTLIER_SHARE = 1e-3
OUTLIER_FACTOR = 10.0
LARGEST_BIAS = 1.0
CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class RmsNormSize(Size):
    """Row-major matrix of rows (tokens) x cols (hidden width); bias=1 adds a vector at the end."""

    FLAGS: ClassVar[tuple[str, ...]] = ("bias",)

    rows: int
    cols: int
    bias: int = 0


def make_inputs(size: RmsNormSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """x [rows, cols], weight [cols] and, if asked for, bias [cols], in the storage type.

    Rows are normal with outliers, of several magnitudes; the last row of three or more is zero,
    which only epsilon keeps from 0 / 0. Weights are of both signs.
    """
    count = size.rows * size.cols
    flat = rng.standard_normal(count, dtype=np.float32)
    flat[rng.integers(0, count, size=int(count * OUTLIER_SHARE))] *= np.float32(OUTLIER_FACTOR)
    x = flat.reshape(size.rows, size.cols)
    kinds = np.resize(np.asarray(ROW_KINDS, dtype=np.float32), (size.rows, 2))
    x *= kinds[:, :1]
    x += kinds[:, 1:]
    if size.rows >= 3:
        x[-1] = 0.0
    weight = rng.uniform(0.5, 1.5, size.cols) * rng.choice((-1.0, 1.0, 1.0), size.cols)
    inputs = {"x": x, "weight": weight}
    if size.bias:
        inputs["bias"] = rng.uniform(-LARGEST_BIAS, LARGEST_BIAS, size.cols)
    return {name: array.astype(numpy_type(dtype), copy=False) for name, array in inputs.items()}


def reference(inputs: Mapping[str, Array], size: RmsNormSize) -> dict[str, Array]:
    """y = x / sqrt(mean of x^2 over the row + epsilon) * weight (+ bias).

    Epsilon stands inside the root. A NaN makes its whole row NaN; so does an infinity at its place,
    and the rest of its row zero. Computed in float64, a block of rows at a time to bound
    temporaries.
    """
    x, weight = inputs["x"], inputs["weight"].astype(np.float64)
    y = np.empty((size.rows, size.cols), dtype=np.float64)
    step = max(1, CHUNK_ELEMENTS // size.cols)
    for start in range(0, size.rows, step):
        part = x[start : start + step].astype(np.float64)
        mean_square = np.square(part).mean(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):  # inf / inf, NaN as defined
            part /= np.sqrt(mean_square + EPSILON)
        part *= weight
        if size.bias:
            part += inputs["bias"].astype(np.float64)
        y[start : start + step] = part
    return {"y": y}


def tolerance(size: RmsNormSize, dtype: DType) -> Tolerance:
    """Limits for float32 sums of squares in chains of `chain` additions, then rounding."""
    chain = size.cols / 256 + 16
    relative = UNIT * (10 + chain / 2)
    float32 = Tolerance(
        absolute=(LARGEST_BIAS * relative if size.bias else 0.0) + 1e-37,
        relative=relative,
        reason=(
            f"float32: squares have one sign, so that a sum of cols / 256 additions a thread and a "
            f"merge of 16 more errs by {chain:.0f} half-units in the last place and its root by "
            "half of them; rsqrtf, the division and the products add 10; results under 1e-37 are "
            "subnormal" + ("; a bias of up to 1 can cancel the product" if size.bias else "")
        ),
    )
    return stored(dtype, float32)


RMSNORM = Family(
    name="rmsnorm",
    title="root-mean-square normalisation over rows",
    size_type=RmsNormSize,
    sizes={
        SizeSet.SEED: (RmsNormSize(rows=2048, cols=4096),),
        SizeSet.DRAM: (RmsNormSize(rows=16384, cols=4096),),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
