"""layernorm kernels with a known fault each, as catalogue entries of their own."""

from rooflens.kernels.layernorm import KERNELS, LayerNormSize
from rooflens.kernels.spec import KernelSpec
from tests.in_place import in_place_of

# Fewer columns than half the threads, so that empty parts meet and the others are not alike.
SIZE = LayerNormSize(rows=9, cols=100)
WRONG_RESULT = (
    "no_broadcast",
    "averages_parts",
    "empty_parts",
    "sample_variance",
    "epsilon_outside",
)


def planted(name: str) -> KernelSpec[LayerNormSize]:
    """The kernel with that fault, in the place of the naive variant; `right` has none."""
    return in_place_of(KERNELS, "naive", name)
