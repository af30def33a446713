"""gemm kernels with a known fault each, as catalogue entries of their own."""

import numpy as np

from rooflens.kernels.gemm import KERNELS, GemmSize
from rooflens.kernels.spec import Array, KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from tests.in_place import in_place_of

# No extent is that of another or a multiple of a tile, and one product lies behind the last tile.
SIZE = GemmSize(m=17, n=33, k=65)
WRONG_RESULT = (
    "skips_tail",
    "transposed",
    "wrong_stride",
    "edge_off_by_one",
    "narrow_sum",
    "drops_bits",
)

OVERFLOW_SIZE = GemmSize(m=19, n=24, k=256)
OVERFLOW_RESULT = 16.0  # of every element


def overflowing_inputs(dtype: DType) -> dict[str, Array]:
    """Sums that pass 131072, twice what float16 holds, halfway along k and end at 16."""
    a = np.full((OVERFLOW_SIZE.m, OVERFLOW_SIZE.k), 64.0)
    a[:, OVERFLOW_SIZE.k // 2 :] = -64.0
    a[:, -1] = -63.0
    b = np.full((OVERFLOW_SIZE.k, OVERFLOW_SIZE.n), 16.0)
    return {"a": a.astype(numpy_type(dtype)), "b": b.astype(numpy_type(dtype))}


def planted(name: str) -> KernelSpec[GemmSize]:
    """The kernel with that fault, in the place of shared; `right` has none."""
    return in_place_of(KERNELS, "shared", name)
