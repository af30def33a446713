"""attention kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace

from rooflens.kernels.attention import KERNELS, AttentionSize
from rooflens.kernels.spec import KernelSpec
from tests.in_place import in_place_of

# Two blocks of rows, both ragged; three heads of queries to one of keys; a root that is not 2^n.
CAUSAL = AttentionSize(heads=6, kv_heads=2, seq=150, dim=20, causal=1)
FULL = replace(CAUSAL, causal=0)
SIZES = (CAUSAL, FULL)

# Those that compute a wrong result, and where.
WRONG_RESULT = {
    "no_scale": SIZES,
    "sees_next": (CAUSAL,),
    "misses_own": (CAUSAL,),
    "wrong_group": SIZES,
    "keeps_sum": SIZES,
    "keeps_output": SIZES,
    "no_maximum": SIZES,
    "counts_padding": (FULL,),
}
REFUSED = [(name, size) for name, sizes in WRONG_RESULT.items() for size in sizes]


def planted(name: str) -> KernelSpec[AttentionSize]:
    """The kernel with that fault, in the place of flash_v3; `right` has none."""
    return in_place_of(KERNELS, "flash_v3", name)
