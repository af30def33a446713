"""What all layernorm variants compute, and how their results are checked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflens.kernels.rowwise import UNIT, stored
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.terms import SizeSet

EPSILON = 1e-5

# Deviation of a row, and its mean in deviations. In the second kind of row the variance is a tenth
# of epsilon, so that a misplaced epsilon shows; the squares of the third do not fit a float16.
ROW_KINDS = ((1.0, 0.0), (1e-3, 2.0), (100.0, -2.5), (1.0, 1.0))
LARGEST_MEAN = 2.6  # in deviations, once a row is rounded to its storage type
CONSTANT = 0.5
OUTLIER_SHARE = 1e-3
OUTLIER_FACTOR = 10.0
LARGEST_GAMMA = 1.5
LARGEST_BETA = 1.0
CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNormSize(Size):
    """Row-major matrix of rows x cols (cols is the hidden width); each row is normalised alone."""

    rows: int
    cols: int


def make_inputs(size: LayerNormSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """x [rows, cols], gamma and beta [cols], in the storage type.

    Rows are normal with outliers, brought to exactly the mean and deviation of their kind, however
    short they are: the tolerance counts on it. The last row of three or more is constant, which
    only epsilon keeps from 0 / 0. gamma is of both signs.
    """
    count = size.rows * size.cols
    flat = rng.standard_normal(count, dtype=np.float32)
    flat[rng.integers(0, count, size=int(count * OUTLIER_SHARE))] *= np.float32(OUTLIER_FACTOR)
    x = flat.reshape(size.rows, size.cols)
    x -= x.mean(axis=1, keepdims=True)
    if size.cols >= 2:
        x /= x.std(axis=1, keepdims=True)
    kinds = np.resize(np.asarray(ROW_KINDS, dtype=np.float32), (size.rows, 2))
    x += kinds[:, 1:]
    x *= kinds[:, :1]
    if size.rows >= 3:
        x[-1] = CONSTANT
    gamma = rng.uniform(0.5, LARGEST_GAMMA, size.cols) * rng.choice((-1.0, 1.0, 1.0), size.cols)
    beta = rng.uniform(-LARGEST_BETA, LARGEST_BETA, size.cols)
    stored_type = numpy_type(dtype)
    return {
        "x": x.astype(stored_type, copy=False),
        "gamma": gamma.astype(stored_type),
        "beta": beta.astype(stored_type),
    }


def reference(inputs: Mapping[str, Array], size: LayerNormSize) -> dict[str, Array]:
    """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and variance of the row.

    The variance divides by cols. A NaN or an infinity makes its whole row NaN. Computed in float64,
    a block of rows at a time to bound temporaries.
    """
    x = inputs["x"]
    gamma, beta = inputs["gamma"].astype(np.float64), inputs["beta"].astype(np.float64)
    y = np.empty((size.rows, size.cols), dtype=np.float64)
    step = max(1, CHUNK_ELEMENTS // size.cols)
    for start in range(0, size.rows, step):
        part = x[start : start + step].astype(np.float64)
        with np.errstate(invalid="ignore"):  # inf - inf in a row that becomes NaN as defined
            part -= part.mean(axis=1, keepdims=True)
            variance = np.square(part).mean(axis=1, keepdims=True)
            part /= np.sqrt(variance + EPSILON)
            part *= gamma
            part += beta
        y[start : start + step] = part
    return {"y": y}


def tolerance(size: LayerNormSize, dtype: DType) -> Tolerance:
    """Limits that hold for float32 sums in chains of `chain` additions, then rounding.

    With m the mean in deviations, E[x^2] and mean^2 are at most (1 + m^2) variances, and each of
    sum_squares' sums errs by `chain` half-units of them: the variance errs by three times that, the
    root by half as much. Deviations from the mean as summed have no such factor and err by less.
    The mean errs by `chain` half-units of mean |x|, which is at most m + 1 deviations.
    """
    chain = max(16.0, size.cols / 256) + 16
    root = 1.5 * chain * (1 + LARGEST_MEAN**2)
    relative = UNIT * (10 + root)
    mean = UNIT * chain * (LARGEST_MEAN + 1)
    float32 = Tolerance(
        absolute=LARGEST_BETA * relative + LARGEST_GAMMA * mean + 1e-37,
        relative=relative,
        reason=(
            f"float32: sums of cols / 256 additions a thread and a merge of 16 more ({chain:.0f} "
            f"half-units in the last place) with means of up to {LARGEST_MEAN} deviations move "
            f"1 / std by {root:.0f} half-units where E[x^2] - mean^2 is taken, and the mean by "
            f"{chain * (LARGEST_MEAN + 1):.0f} half-units of a deviation; rsqrtf and the products "
            "add 10; beta, up to 1, can cancel the product whose error stays"
        ),
    )
    return stored(dtype, float32)


LAYERNORM = Family(
    name="layernorm",
    title="layer normalisation over rows",
    size_type=LayerNormSize,
    sizes={
        SizeSet.SEED: (LayerNormSize(rows=128, cols=4096),),
        SizeSet.DRAM: (LayerNormSize(rows=16384, cols=4096),),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
