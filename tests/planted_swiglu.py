"""swiglu kernels with a known fault each, as catalogue entries of their own."""

from rooflens.kernels.spec import KernelSpec
from rooflens.kernels.swiglu import KERNELS, SwigluSize
from tests.in_place import in_place_of

# 9207 elements: three are left behind the last pack of four.
SIZE = SwigluSize(rows=9, cols=1023)
WRONG_RESULT = (
    "overflows",
    "swapped",
    "skips_tail",
    "forgets_gate",
)


def planted(name: str) -> KernelSpec[SwigluSize]:
    """The kernel with that fault, in the place of the vectorized variant; `right` has none."""
    return in_place_of(KERNELS, "vectorized", name)
