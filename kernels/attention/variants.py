"""The five attention variants, in the order of the ladder: launch shapes and costs."""

from collections.abc import Callable
from dataclasses import replace

from rooflens.cost import Cost, Traffic, add_issued
from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.attention import costs
from rooflens.kernels.attention.family import ATTENTION, AttentionSize, tensor_core_tolerance
from rooflens.kernels.attention.tiles import WIDEST, row_tile
from rooflens.kernels.rowwise import DTYPES, unsigned
from rooflens.kernels.spec import (
    Argument,
    Buffer,
    CType,
    KernelSpec,
    Launch,
    Plan,
    Pointer,
    Role,
    Scalar,
    line_of_blocks,
)
from rooflens.kernels.storage import element_define
from rooflens.precision import DType, Precision

WARP = 32
NAIVE_THREADS = 256
V1_TILE = 32
V3_TILE_KEYS, V3_STEP = 32, 8
TENSOR_WIDEST = 128  # 8 x 16 sums and queries of 128 columns fill a thread's registers
TENSOR_WARPS, TENSOR_WARP_ROWS, TENSOR_KEYS = 8, 16, 64
Q, K, V, OUT = Pointer("q"), Pointer("k"), Pointer("v"), Pointer("out")
SCORES, PROBABILITIES = Pointer("scores"), Pointer("probabilities")

AttentionPlan = Callable[[AttentionSize, DType, LaunchLimits], Plan]


def _buffers(size: AttentionSize, dtype: DType) -> tuple[Buffer, ...]:
    wide = (size.heads, size.seq, size.dim)
    narrow = (size.kv_heads, size.seq, size.dim)
    return (
        Buffer(name="q", shape=wide, dtype=dtype, role=Role.INPUT),
        Buffer(name="k", shape=narrow, dtype=dtype, role=Role.INPUT),
        Buffer(name="v", shape=narrow, dtype=dtype, role=Role.INPUT),
        Buffer(name="out", shape=wide, dtype=dtype, role=Role.OUTPUT),
    )


def _defines(size: AttentionSize, dtype: DType, threads: int) -> dict[str, str]:
    return {
        "BLOCK_THREADS": str(threads),
        "DIM": str(size.dim),
        "CAUSAL": str(size.causal),
    } | element_define(dtype)


def _scale(size: AttentionSize) -> Scalar:
    return Scalar(CType.FLOAT32, size.scale)


def _refuse_wide(size: AttentionSize, widest: int, reason: str) -> None:
    if size.dim > widest:
        raise NotSupportedError(f"dim is at most {widest} here, got {size.dim}: {reason}")


def _naive_launch(
    size: AttentionSize,
    entry: str,
    blocks_per_head: int,
    arguments: tuple[Argument, ...],
    cost: Cost,
) -> Launch:
    return Launch(
        entry=entry,
        grid=line_of_blocks(size.heads * blocks_per_head, entry, size),
        block=(NAIVE_THREADS, 1, 1),
        arguments=arguments,
        cost=cost,
    )


def _naive_cost(flops: int, special: int, read: int, write: int, issued_read: int) -> Cost:
    return Cost(
        flops={Precision.FP32: flops},
        special_function_ops=special,
        compulsory=Traffic(read_bytes=read, write_bytes=write),
        issued=Traffic(read_bytes=issued_read, write_bytes=write),
    )


def _naive_launches(size: AttentionSize, dtype: DType) -> tuple[Launch, ...]:
    """A warp has 32 keys (or columns) of one query: what it reads of that query at one address
    counts once. What causal attention hides is neither computed nor moved."""
    pairs = costs.visible_pairs(size)
    matrix = pairs * DType.FLOAT32.itemsize
    queries, keys = costs.query_bytes(size, dtype), costs.key_bytes(size, dtype)
    row_tiles = -(-size.seq // (NAIVE_THREADS // WARP))
    column_tiles = -(-size.dim // WARP)
    seen = [costs.keys_before(size, row + 1) for row in range(size.seq)]
    query_reads = size.heads * sum(-(-one // WARP) for one in seen) * size.dim * dtype.itemsize
    streamed = pairs * size.dim * dtype.itemsize
    product = costs.product_flops(size)
    seq, group = unsigned(size.seq), unsigned(size.group)
    return (
        _naive_launch(
            size,
            "attention_scores",
            row_tiles * -(-size.seq // WARP),
            (Q, K, SCORES, seq, group, _scale(size)),
            _naive_cost(product + pairs, 0, queries + keys, matrix, query_reads + streamed),
        ),
        _naive_launch(
            size,
            "attention_softmax",
            size.seq,
            (SCORES, PROBABILITIES, seq),
            _naive_cost(costs.softmax_flops(size), 2 * pairs, matrix, matrix, 3 * matrix),
        ),
        _naive_launch(
            size,
            "attention_values",
            row_tiles * column_tiles,
            (PROBABILITIES, V, OUT, seq, group),
            _naive_cost(product, 0, matrix + keys, queries, column_tiles * matrix + streamed),
        ),
    )


def plan_naive(size: AttentionSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Three launches; scores and probabilities are float32 matrices of seq x seq per head."""
    launches = _naive_launches(size, dtype)
    issued, special = add_issued(one.cost for one in launches)
    square = (size.heads, size.seq, size.seq)
    scratch = (
        Buffer(name=name, shape=square, dtype=DType.FLOAT32, role=Role.SCRATCH)
        for name in ("scores", "probabilities")
    )
    return Plan(
        buffers=(*_buffers(size, dtype), *scratch),
        launches=launches,
        cost=Cost(
            flops=costs.total_flops(size, Precision.FP32),
            special_function_ops=special,
            compulsory=costs.compulsory(size, dtype),
            issued=issued,
        ),
        defines=_defines(size, dtype, NAIVE_THREADS),
    )


def _flash(
    size: AttentionSize,
    dtype: DType,
    *,
    entry: str,
    rows: int,
    keys: int,
    threads: int,
    special_function_ops: int,
    products: Precision = Precision.FP32,
    extra: Traffic | None = None,
    dynamic_shared_bytes: int = 0,
    defines: dict[str, str] | None = None,
) -> Plan:
    """One launch of a block per `rows` queries of a head, which goes through tiles of `keys` keys.

    extra: traffic beside the tiles' and the output's.
    """
    extra = extra or Traffic(read_bytes=0, write_bytes=0)
    cost = Cost(
        flops=costs.total_flops(size, products),
        special_function_ops=special_function_ops,
        compulsory=costs.compulsory(size, dtype),
        issued=Traffic(
            read_bytes=costs.tiled_reads(size, dtype, rows, keys) + extra.read_bytes,
            write_bytes=costs.query_bytes(size, dtype) + extra.write_bytes,
        ),
    )
    launch = Launch(
        entry=entry,
        grid=line_of_blocks(size.heads * -(-size.seq // rows), entry, size),
        block=(threads, 1, 1),
        arguments=(Q, K, V, OUT, unsigned(size.seq), unsigned(size.group), _scale(size)),
        dynamic_shared_bytes=dynamic_shared_bytes,
        cost=cost,
    )
    return Plan(
        buffers=_buffers(size, dtype),
        launches=(launch,),
        cost=cost,
        defines=_defines(size, dtype, threads) | (defines or {}),
    )


def plan_flash_v1(size: AttentionSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A warp per query row; output rows are read and written again at every tile but the first.

    Then once more to be divided by their sums. Each of a warp's 32 lanes evaluates two exponentials
    a tile: its weight, and the factor that rescales the row.
    """
    tile_floats = V1_TILE * (2 * size.dim + (size.dim | 1))
    shared = tile_floats * DType.FLOAT32.itemsize
    if shared > limits.shared_bytes_per_block:
        raise NotSupportedError(
            f"tiles of 32 rows x {size.dim} need {shared} bytes of shared memory a block, this "
            f"card gives {limits.shared_bytes_per_block}"
        )
    visits = sum(
        min(V1_TILE, size.seq - start) * -(-costs.keys_before(size, start + V1_TILE) // V1_TILE)
        for start in range(0, size.seq, V1_TILE)
    )
    # Written at each visit, of which one counts as the output's own; read at each but the first.
    again = size.heads * visits * size.dim * dtype.itemsize
    tiles = size.heads * costs.tiles_per_head(size, V1_TILE, V1_TILE)
    return _flash(
        size,
        dtype,
        entry="attention_flash_v1",
        rows=V1_TILE,
        keys=V1_TILE,
        threads=V1_TILE * WARP,
        special_function_ops=tiles * V1_TILE * WARP * 2,
        extra=Traffic(read_bytes=again, write_bytes=again),
        dynamic_shared_bytes=shared,
    )


def plan_flash_v3(size: AttentionSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Rows of up to 64 columns have one thread, wider ones two or four that share the columns.

    Each evaluates an exponential a key, and one more a step of 8 keys that rescales its row.
    """
    _refuse_wide(size, WIDEST, "a row's query and output no longer fit four threads' registers")
    sharers = 1 if size.dim <= 64 else 2 if size.dim <= 128 else 4
    rows, keys = (128, V3_TILE_KEYS) if sharers < 4 else (64, V3_TILE_KEYS // 2)
    threads = rows * sharers
    tiles = size.heads * costs.tiles_per_head(size, rows, keys)
    return _flash(
        size,
        dtype,
        entry="attention_flash_v3",
        rows=rows,
        keys=keys,
        threads=threads,
        special_function_ops=tiles * threads * (keys + keys // V3_STEP),
        defines={"BLOCK_ROWS": str(rows), "SHARERS": str(sharers), "TILE_KEYS": str(keys)},
    )


def plan_flash_v2(size: AttentionSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Tiles of scores and outputs in registers, 16 threads to a row."""
    tile = row_tile(size.dim, limits)
    tiles = size.heads * costs.tiles_per_head(size, tile.rows, tile.keys)
    return _flash(
        size,
        dtype,
        entry="attention_flash_v2",
        rows=tile.rows,
        keys=tile.keys,
        threads=tile.threads,
        special_function_ops=tiles * tile.special_per_tile,
        dynamic_shared_bytes=tile.shared_bytes,
        defines=tile.defines,
    )


def plan_flash_tensor_core(size: AttentionSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A warp per 16 rows; it skips tiles of which none of its rows sees a key.

    Each tile takes an exponential a pair, and one in each of a row's 4 lanes that rescales the row.
    """
    if limits.compute_capability < (8, 0):
        major, minor = limits.compute_capability
        raise NotSupportedError(
            f"mma.sync 16 x 8 x 16 and cp.async need compute capability 8.0, this card has "
            f"{major}.{minor}"
        )
    if size.dim % 16:
        raise NotSupportedError(f"fragments are 16 columns deep, dim {size.dim} is no multiple")
    _refuse_wide(size, TENSOR_WIDEST, "a warp's queries and output sums no longer fit registers")
    rows, threads = TENSOR_WARPS * TENSOR_WARP_ROWS, TENSOR_WARPS * WARP
    warp_tiles = size.heads * costs.tiles_per_head(size, TENSOR_WARP_ROWS, TENSOR_KEYS)
    return _flash(
        size,
        dtype,
        entry="attention_flash_tensor_core",
        rows=rows,
        keys=TENSOR_KEYS,
        threads=threads,
        special_function_ops=warp_tiles * TENSOR_WARP_ROWS * (TENSOR_KEYS + 4),
        products=costs.PRECISIONS[dtype],
        dynamic_shared_bytes=2 * 2 * TENSOR_KEYS * (size.dim + 8) * dtype.itemsize,
        defines={"TILE_KEYS": str(TENSOR_KEYS)},
    )


def _variant(
    name: str, idea: str, plan: AttentionPlan, dtypes: tuple[DType, ...] = DTYPES
) -> KernelSpec[AttentionSize]:
    return KernelSpec(
        family=ATTENTION,
        variant=name,
        idea=idea,
        source=f"attention/{name}.cu",
        dtypes=dtypes,
        plan=plan,
    )


KERNELS: tuple[KernelSpec[AttentionSize], ...] = (
    _variant("naive", "one launch each for scores, softmax and times V", plan_naive),
    _variant(
        "flash_v1",
        "one launch, tiles and an online softmax; output rescaled in global memory",
        plan_flash_v1,
        # Output rows hold the running sums, which narrower types would round at every tile.
        (DType.FLOAT32,),
    ),
    _variant("flash_v3", "a row's query and output in registers, wide loads", plan_flash_v3),
    _variant("flash_v2", "tiles of scores and outputs in registers", plan_flash_v2),
    replace(
        _variant(
            "flash_tensor_core",
            "both products on tensor cores, copies beside the arithmetic",
            plan_flash_tensor_core,
            (DType.FLOAT16, DType.BFLOAT16),
        ),
        tolerance=tensor_core_tolerance,
    ),
)
