"""kv_cache kernels with a known fault each, as catalogue entries of their own."""

from rooflens.kernels.kv_cache import KERNELS, KvCacheSize
from rooflens.kernels.spec import KernelSpec
from tests.in_place import in_place_of

# Two key heads for four query heads, and pages of which the last is not full.
SIZE = KvCacheSize(batch=2, heads=4, kv_heads=2, length=37, new_tokens=3, max_seq=60, dim=10)
WRONG_RESULT = ("length_as_stride", "wrong_group", "forgets_last", "overwrites", "ignores_table")


def planted(name: str) -> KernelSpec[KvCacheSize]:
    """The kernel with that fault, in the place of the naive or paged variant; `right` has none."""
    place = "paged" if name == "ignores_table" else "naive"
    return in_place_of(KERNELS, place, name)
