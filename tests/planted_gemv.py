"""gemv kernels with a known fault each, as catalogue entries of their own."""

from rooflens.kernels.gemv import KERNELS, GemvSize
from rooflens.kernels.spec import KernelSpec
from tests.in_place import in_place_of

# Not square, rows for every warp of a block, and three elements behind the last pack of four.
SIZE = GemvSize(m=9, k=1023)
WRONG_RESULT = (
    "lane0_writers",
    "skips_tail",
    "reads_past_row",
    "transposed",
    "rounds_elements",
)


def planted(name: str) -> KernelSpec[GemvSize]:
    """The kernel with that fault, in the place of block_per_row; `right` has none."""
    return in_place_of(KERNELS, "block_per_row", name)
