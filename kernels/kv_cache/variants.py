"""The three kv_cache variants, in the order of the ladder: launch shapes and costs."""

from dataclasses import dataclass, replace

from rooflens.cost import Cost, Traffic, add_issued
from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.kv_cache.family import KV_CACHE, PAGE_TOKENS, KvCacheSize, paged_reference
from rooflens.kernels.rowwise import unsigned, variant, widest_access
from rooflens.kernels.spec import (
    Argument,
    Buffer,
    KernelSpec,
    Launch,
    Plan,
    Pointer,
    Role,
    line_of_blocks,
)
from rooflens.kernels.storage import element_define
from rooflens.precision import DType

BLOCK_THREADS = 256
LARGEST_HEAD = 2**31  # elements of one head's tokens, which are counted in 32 bits


def _cost(compulsory: Traffic, issued: Traffic) -> Cost:
    """Nothing is computed."""
    return Cost(flops={}, special_function_ops=0, compulsory=compulsory, issued=issued)


def _launch(
    size: KvCacheSize,
    entry: str,
    heads: int,
    tokens: int,
    group: int,
    arguments: tuple[Argument, ...],
    cost: Cost,
) -> Launch:
    """Blocks that keep to one of `heads` heads, a thread for `group` of its elements."""
    if tokens * size.dim >= LARGEST_HEAD:
        raise NotSupportedError(
            f"kv_cache counts the {tokens * size.dim} elements of a head's tokens in 32 bits"
        )
    head_blocks = -(-tokens * size.dim // (group * BLOCK_THREADS))
    return Launch(
        entry=entry,
        grid=line_of_blocks(heads * head_blocks, entry, size),
        block=(BLOCK_THREADS, 1, 1),
        arguments=(*arguments, unsigned(head_blocks)),
        cost=cost,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moved:
    """Bytes of keys and values together, and of the page table where there is one."""

    new: int
    old: int
    written: int  # what is read back, for every query head
    asked: int  # of the cache, to read it back
    new_entries: int  # of the pages that the new tokens lie on
    entries: int  # of all pages that hold tokens
    new_lookups: int  # an entry counts once for each row of dim elements found through it
    lookups: int

    @property
    def append(self) -> Cost:
        return _cost(
            Traffic(read_bytes=self.new + self.new_entries, write_bytes=self.new),
            Traffic(read_bytes=self.new + self.new_lookups, write_bytes=self.new),
        )

    @property
    def read(self) -> Cost:
        return _cost(
            Traffic(read_bytes=self.new + self.old + self.entries, write_bytes=self.written),
            Traffic(read_bytes=self.asked + self.lookups, write_bytes=self.written),
        )

    def whole(self, issued: Traffic) -> Cost:
        """New tokens, old ones and the table are inputs of the step: read once, whoever reads."""
        needed = Traffic(
            read_bytes=self.new + self.old + self.entries, write_bytes=self.new + self.written
        )
        return _cost(needed, issued)


def _moved(size: KvCacheSize, dtype: DType, *, shared_reads: bool, pages: bool) -> _Moved:
    """shared_reads: a key head is read once for its whole group of query heads."""
    row = size.dim * dtype.itemsize
    rows_per_token = 2 * size.batch * size.kv_heads
    new, old = rows_per_token * size.new_tokens, rows_per_token * size.length
    asked = (new + old) * (1 if shared_reads else size.group)
    entry = size.batch * DType.INT32.itemsize if pages else 0
    shared = DType.INT32.itemsize // 2 if pages else 0  # a row of keys and one of values share one
    all_pages = -(-size.tokens // PAGE_TOKENS)
    return _Moved(
        new=new * row,
        old=old * row,
        written=size.group * (new + old) * row,
        asked=asked * row,
        new_entries=(all_pages - size.length // PAGE_TOKENS) * entry,
        entries=all_pages * entry,
        new_lookups=new * shared,
        lookups=asked * shared,
    )


def _launches(
    size: KvCacheSize, moved: _Moved, *, width: int, shared_reads: bool, pages: bool
) -> tuple[Launch, Launch]:
    table = (Pointer("table"),) if pages else ()
    layout = (unsigned(size.kv_heads), unsigned(size.sequence_pages if pages else size.max_seq))
    in_store = tuple(Pointer(name) for name in _store(pages))
    return (
        _launch(
            size,
            "kv_cache_append",
            size.batch * size.kv_heads,
            size.new_tokens,
            width,
            (
                *(Pointer(name) for name in ("k_new", "v_new")),
                *(*in_store, *table, *layout),
                *(unsigned(one) for one in (size.length, size.new_tokens)),
            ),
            moved.append,
        ),
        _launch(
            size,
            "kv_cache_read",
            size.batch * (size.kv_heads if shared_reads else size.heads),
            size.tokens,
            width,
            (
                *in_store,
                *(Pointer(name) for name in ("keys", "values")),
                *(*table, *layout),
                *(unsigned(one) for one in (size.group, size.tokens)),
            ),
            moved.read,
        ),
    )


def _plan(size: KvCacheSize, dtype: DType, *, width: int, shared_reads: bool, pages: bool) -> Plan:
    """Two launches; see _moved for shared_reads."""
    moved = _moved(size, dtype, shared_reads=shared_reads, pages=pages)
    launches = _launches(size, moved, width=width, shared_reads=shared_reads, pages=pages)
    issued, _ = add_issued(one.cost for one in launches)
    return Plan(
        buffers=_buffers(size, dtype, pages=pages),
        launches=launches,
        cost=moved.whole(issued),
        defines={
            "BLOCK_THREADS": str(BLOCK_THREADS),
            "DIM": str(size.dim),
            "GROUP": str(width),
            "PAGE_TOKENS": str(PAGE_TOKENS),
        }
        | element_define(dtype),
    )


def _store(pages: bool) -> tuple[str, str]:
    return ("k_pages", "v_pages") if pages else ("k_cache", "v_cache")


def _buffers(size: KvCacheSize, dtype: DType, *, pages: bool) -> tuple[Buffer, ...]:
    new = (size.batch, size.kv_heads, size.new_tokens, size.dim)
    read = (size.batch, size.heads, size.tokens, size.dim)
    count = size.batch * size.sequence_pages
    kept = (
        (count, size.kv_heads, PAGE_TOKENS, size.dim)
        if pages
        else (size.batch, size.kv_heads, size.max_seq, size.dim)
    )
    table = Buffer(
        name="table",
        shape=(size.batch, size.sequence_pages),
        dtype=DType.INT32,
        role=Role.INPUT,
    )
    return (
        *(Buffer(name=one, shape=new, dtype=dtype, role=Role.INPUT) for one in ("k_new", "v_new")),
        *((table,) if pages else ()),
        *(Buffer(name=one, shape=kept, dtype=dtype, role=Role.IN_OUT) for one in _store(pages)),
        *(
            Buffer(name=one, shape=read, dtype=dtype, role=Role.OUTPUT)
            for one in ("keys", "values")
        ),
    )


def plan_naive(size: KvCacheSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A thread for each element that is written."""
    return _plan(size, dtype, width=1, shared_reads=False, pages=False)


def plan_vectorized(size: KvCacheSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A thread for each access of the cache."""
    width = widest_access(size.dim, dtype)
    return _plan(size, dtype, width=width, shared_reads=True, pages=False)


def plan_paged(size: KvCacheSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """As vectorized, through a table."""
    width = widest_access(size.dim, dtype)
    return _plan(size, dtype, width=width, shared_reads=True, pages=True)


KERNELS: tuple[KernelSpec[KvCacheSize], ...] = (
    variant(KV_CACHE, "naive", "an append and a read launch, one element per thread", plan_naive),
    variant(
        KV_CACHE,
        "vectorized",
        "16-byte accesses; a key head is read once for its query heads",
        plan_vectorized,
    ),
    replace(
        variant(KV_CACHE, "paged", "pages of 16 tokens, found through a table", plan_paged),
        reference=paged_reference,
    ),
)
