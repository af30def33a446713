"""What all kv_cache variants do, and how their results are checked.

A step appends new_tokens tokens to the keys and values of `length` earlier ones, then reads all of
them back for every query head. A contiguous cache is [batch, kv_heads, max_seq, dim]; a paged one
[pages, kv_heads, PAGE_TOKENS, dim], where the pages of a sequence stand in its row of a table.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflens.errors import UsageError
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.terms import SizeSet

PAGE_TOKENS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class KvCacheSize(Size):
    """heads query heads read kv_heads of keys and values; query head h reads h // (heads/kv_heads).

    Raises UsageError unless kv_heads divides heads and max_seq holds length + new_tokens.
    """

    batch: int
    heads: int
    kv_heads: int
    length: int
    new_tokens: int
    max_seq: int
    dim: int

    def __post_init__(self) -> None:
        Size.__post_init__(self)  # a slotted dataclass is made anew: super() would not find it
        if self.heads % self.kv_heads:
            raise UsageError(
                f"kv_heads must divide heads, got {self.kv_heads} for {self.heads} heads"
            )
        if self.tokens > self.max_seq:
            raise UsageError(
                f"max_seq {self.max_seq} does not hold length {self.length} and new_tokens "
                f"{self.new_tokens}: {self.tokens} in all"
            )

    @property
    def tokens(self) -> int:
        """Tokens of a sequence after the step."""
        return self.length + self.new_tokens

    @property
    def group(self) -> int:
        """Query heads that share a head of keys and values."""
        return self.heads // self.kv_heads

    @property
    def sequence_pages(self) -> int:
        """Pages that max_seq tokens take."""
        return -(-self.max_seq // PAGE_TOKENS)


def make_inputs(size: KvCacheSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """New tokens, and the cache in both layouts: k_cache and v_cache, k_pages, v_pages and table.

    What is no token yet is NaN, so that reading it shows. Pages are dealt out in no order.
    """
    stored = numpy_type(dtype)
    table = rng.permutation(size.batch * size.sequence_pages).astype(np.int32)
    inputs: dict[str, Array] = {"table": table.reshape(size.batch, size.sequence_pages)}
    for name in ("k", "v"):
        shape = (size.batch, size.kv_heads, size.max_seq, size.dim)
        cache = np.full(shape, np.nan, dtype=stored)
        known = rng.standard_normal((*shape[:2], size.length, size.dim), dtype=np.float32)
        cache[:, :, : size.length] = known.astype(stored)
        new = rng.standard_normal((*shape[:2], size.new_tokens, size.dim), dtype=np.float32)
        inputs[f"{name}_new"] = new.astype(stored)
        inputs[f"{name}_cache"] = cache
        inputs[f"{name}_pages"] = paged(cache, inputs["table"])
    return inputs


def paged(cache: Array, table: Array) -> Array:
    """A contiguous cache [batch, kv_heads, max_seq, dim] in the pages that `table` names."""
    batch, kv_heads, max_seq, dim = cache.shape
    count = table.shape[1]
    padded = np.full((batch, kv_heads, count * PAGE_TOKENS, dim), np.nan, dtype=cache.dtype)
    padded[:, :, :max_seq] = cache
    by_page = padded.reshape(batch, kv_heads, count, PAGE_TOKENS, dim).transpose(0, 2, 1, 3, 4)
    pages = np.empty((table.size, kv_heads, PAGE_TOKENS, dim), dtype=cache.dtype)
    pages[table.reshape(-1)] = by_page.reshape(-1, kv_heads, PAGE_TOKENS, dim)
    return pages


def reference(inputs: Mapping[str, Array], size: KvCacheSize) -> dict[str, Array]:
    """k_cache and v_cache after the step; keys and values [batch, heads, tokens, dim].

    In the storage type: nothing is computed.
    """
    results: dict[str, Array] = {}
    for name, read in (("k", "keys"), ("v", "values")):
        cache = inputs[f"{name}_cache"].copy()
        cache[:, :, size.length : size.tokens] = inputs[f"{name}_new"]
        results[f"{name}_cache"] = cache
        results[read] = np.repeat(cache[:, :, : size.tokens], size.group, axis=1)
    return results


def paged_reference(inputs: Mapping[str, Array], size: KvCacheSize) -> dict[str, Array]:
    """As reference, with k_pages and v_pages in the place of the contiguous cache."""
    results = reference(inputs, size)
    for name in ("k", "v"):
        results[f"{name}_pages"] = paged(results.pop(f"{name}_cache"), inputs["table"])
    return results


def tolerance(size: KvCacheSize, dtype: DType) -> Tolerance:
    """None: elements are moved as they are."""
    return Tolerance(absolute=0.0, relative=0.0, reason=f"{dtype}: nothing is computed, only moved")


KV_CACHE = Family(
    name="kv_cache",
    title="append to a key-value cache and read it back",
    size_type=KvCacheSize,
    sizes={
        SizeSet.SEED: (
            KvCacheSize(
                batch=1,
                heads=32,
                kv_heads=32,
                length=2047,
                new_tokens=1,
                max_seq=4096,
                dim=128,
            ),
        ),
        SizeSet.DRAM: (
            KvCacheSize(
                batch=8,
                heads=32,
                kv_heads=8,
                length=4095,
                new_tokens=1,
                max_seq=8192,
                dim=128,
            ),
        ),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
