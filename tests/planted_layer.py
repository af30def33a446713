"""layer kernels with a known fault each, as catalogue entries of their own."""

from rooflens.kernels.layer import KERNELS, LayerSize
from rooflens.kernels.spec import KernelSpec
from tests.in_place import in_place_of

# Causal, with two query heads to a key head: every fault below has something to spoil.
SIZE = LayerSize(seq=37, hidden=24, heads=4, kv_heads=2, dim=8, causal=1)
WRONG_RESULT = ("no_scale", "no_mask", "wrong_group", "no_rope", "other_layout")


def planted(name: str) -> KernelSpec[LayerSize]:
    """The kernel with that fault, in the place of the unfused variant; `right` has none."""
    return in_place_of(KERNELS, "unfused", name)
