"""What all matrix-vector products compute, and how their results are checked.

A and x are those of a matrix product with one column: whole numbers times a power of two, for which
every product and every partial sum is exactly a float32 (see rooflens.kernels.gemm.family). A row
summed in any order then gives the same, and a term left out or taken twice shows at any size.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflens.kernels.gemm import GEMM, GemmSize
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.precision import DType
from rooflens.terms import SizeSet

CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class GemvSize(Size):
    """y [m] = A [m, k] x [k], A row-major."""

    m: int
    k: int


def _one_column(size: GemvSize) -> GemmSize:
    return GemmSize(m=size.m, n=1, k=size.k)


def make_inputs(size: GemvSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """a [m, k] and x [k] in the storage type, as GEMM draws them for one column."""
    drawn = GEMM.make_inputs(_one_column(size), dtype, rng)
    return {"a": drawn["a"], "x": drawn["b"].reshape(size.k)}


def reference(inputs: Mapping[str, Array], size: GemvSize) -> dict[str, Array]:
    """y = a x in float64, from the inputs as stored; a block of rows at a time."""
    a, x = inputs["a"], inputs["x"].astype(np.float64)
    y = np.empty(size.m, dtype=np.float64)
    step = max(1, CHUNK_ELEMENTS // size.k)
    for start in range(0, size.m, step):
        y[start : start + step] = a[start : start + step].astype(np.float64) @ x
    return {"y": y}


def tolerance(size: GemvSize, dtype: DType) -> Tolerance:
    """That of GEMM: none in float32, and one rounding of the result for narrower storage."""
    return GEMM.tolerance(_one_column(size), dtype)


GEMV = Family(
    name="gemv",
    title="matrix-vector product y = A x",
    size_type=GemvSize,
    sizes={
        SizeSet.SEED: (GemvSize(m=4096, k=4096),),
        SizeSet.DRAM: (GemvSize(m=16384, k=16384),),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
