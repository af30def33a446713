"""rope kernels with a known fault each, as catalogue entries of their own."""

from rooflens.kernels.rope import KERNELS, RopeSize
from rooflens.kernels.spec import KernelSpec
from tests.in_place import in_place_of

# Positions past 256, several heads, and a head that is no power of two.
SIZE = RopeSize(seq=300, heads=3, dim=66)
WRONG_RESULT = (
    "other_layout",
    "backwards",
    "from_one",
    "half_exponent",
    "overwrites",
    "narrow_position",
    "head_as_position",
)


def planted(name: str) -> KernelSpec[RopeSize]:
    """The kernel with that fault, in the place of the naive variant; `right` has none."""
    return in_place_of(KERNELS, "naive", name)
