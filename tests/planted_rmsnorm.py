"""rmsnorm kernels with a known fault each, as catalogue entries of their own."""

from rooflens.kernels.rmsnorm import KERNELS, RmsNormSize
from rooflens.kernels.spec import KernelSpec
from tests.in_place import in_place_of

# No multiple of the block, and rows of all kinds.
SIZE = RmsNormSize(rows=9, cols=1023)
WRONG_RESULT = (
    "epsilon_outside",
    "divides_by_less",
    "one_partial",
)


def planted(name: str) -> KernelSpec[RmsNormSize]:
    """The kernel with that fault, in the place of the warp variant; `right` has none."""
    return in_place_of(KERNELS, "warp", name)
