"""The three kv_cache variants, in the order of the ladder: launch shapes and costs."""

from dataclasses import replace

from rooflens.cost import Cost, Traffic, add_issued
from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.kv_cache.family import KV_CACHE, PAGE_TOKENS, KvCacheSize, paged_reference
from rooflens.kernels.rowwise import unsigned, variant, widest_access
from rooflens.kernels.spec import Argument, Buffer, KernelSpec, Launch, Plan, Pointer, Role
from rooflens.kernels.storage import element_define
from rooflens.precision import DType

BLOCK_THREADS = 256
LARGEST_GRID = 2**31 - 1
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
    blocks = heads * head_blocks
    if blocks > LARGEST_GRID:
        raise NotSupportedError(
            f"kv_cache at {size} would need {blocks} blocks, a launch has at most {LARGEST_GRID}"
        )
    return Launch(
        entry=entry,
        grid=(blocks, 1, 1),
        block=(BLOCK_THREADS, 1, 1),
        arguments=(*arguments, unsigned(head_blocks)),
        cost=cost,
    )


def _plan(size: KvCacheSize, dtype: DType, *, width: int, shared_reads: bool, pages: bool) -> Plan:
    """Two launches. shared_reads: a key head is read once for its whole group of query heads.

    Of a page table, an entry counts once for each row of dim elements that is found through it.
    """
    row = size.dim * dtype.itemsize
    new = 2 * size.batch * size.kv_heads * size.new_tokens
    old = 2 * size.batch * size.kv_heads * size.length
    everything = 2 * size.batch * size.kv_heads * size.tokens
    written = size.group * everything
    entry = DType.INT32.itemsize
    looked_up = entry // 2 if pages else 0  # a row of keys and one of values share an entry
    entries = size.batch * -(-size.tokens // PAGE_TOKENS) * entry if pages else 0
    append = _cost(
        Traffic(read_bytes=new * row, write_bytes=new * row),
        Traffic(read_bytes=new * (row + looked_up), write_bytes=new * row),
    )
    asked = everything if shared_reads else written
    read = _cost(
        Traffic(read_bytes=everything * row + entries, write_bytes=written * row),
        Traffic(read_bytes=asked * (row + looked_up), write_bytes=written * row),
    )
    store = ("k_pages", "v_pages") if pages else ("k_cache", "v_cache")
    table = (Pointer("table"),) if pages else ()
    layout = (unsigned(size.kv_heads), unsigned(size.sequence_pages if pages else size.max_seq))
    in_store = tuple(Pointer(name) for name in store)
    launches = (
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
            append,
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
            read,
        ),
    )
    issued, _ = add_issued(one.cost for one in launches)
    return Plan(
        buffers=_buffers(size, dtype, store, pages=pages),
        launches=launches,
        cost=_cost(
            Traffic(read_bytes=(new + old) * row + entries, write_bytes=(new + written) * row),
            issued,
        ),
        defines={
            "BLOCK_THREADS": str(BLOCK_THREADS),
            "DIM": str(size.dim),
            "GROUP": str(width),
            "PAGE_TOKENS": str(PAGE_TOKENS),
        }
        | element_define(dtype),
    )


def _buffers(
    size: KvCacheSize, dtype: DType, store: tuple[str, ...], *, pages: bool
) -> tuple[Buffer, ...]:
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
        *(Buffer(name=one, shape=kept, dtype=dtype, role=Role.IN_OUT) for one in store),
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
