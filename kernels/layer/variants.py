"""The two layer variants, in the order of the ladder: launch shapes and costs."""

from rooflens.cost import Cost, Traffic, add_issued
from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.attention import costs
from rooflens.kernels.attention.tiles import RowTile, row_tile
from rooflens.kernels.gemm import GemmSize
from rooflens.kernels.gemm.variants import REGISTER_TILES, Tile, choose_tile
from rooflens.kernels.layer.family import LAYER, LayerSize
from rooflens.kernels.rope.variants import (
    COMPUTED_PER_PAIR,
    FLOPS_PER_PAIR,
    check_angles,
    frequency_step,
)
from rooflens.kernels.rowwise import unsigned, variant
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
QUAD = 4
# Columns are counted in 32 bits, up to a tile past the last; offsets of rows in 64.
LARGEST_WIDTH = 2**31 - 1
BETWEEN = DType.FLOAT32  # of queries, keys and values on their way from launch to launch


def _check(size: LayerSize) -> None:
    check_angles(size.turned, instead="")
    if size.width > LARGEST_WIDTH:
        raise NotSupportedError(
            "layer counts the queries, keys and values of a token in 32 bits, at most "
            f"{LARGEST_WIDTH}, got {size.width}"
        )


def _tile(size: LayerSize, limits: LaunchLimits) -> Tile:
    """One tile for both products: what the smaller result leaves work for."""
    columns = min(size.width, size.hidden)
    return choose_tile(REGISTER_TILES, GemmSize(m=size.seq, n=columns, k=size.inner), limits)


def _projection(
    entry: str,
    product: GemmSize,
    tile: Tile,
    pointers: tuple[str, str, str],
    dtypes: tuple[DType, DType],
    *,
    more: tuple[Argument, ...] = (),
    flops: int = 0,
    special: int = 0,
) -> Launch:
    """A product of elements of dtypes[0] whose result has dtypes[1]; each tile loads its rows and
    columns once. flops and special: what it does beside."""
    read, written = dtypes
    result = product.m * product.n * written.itemsize
    across, down = -(-product.n // tile.cols), -(-product.m // tile.rows)
    left, right = product.m * product.k, product.k * product.n
    return Launch(
        entry=entry,
        grid=line_of_blocks(tile.count(product), entry, product),
        block=(tile.warps * WARP, 1, 1),
        arguments=(
            *(Pointer(name) for name in pointers),
            *(unsigned(extent) for extent in (product.m, product.n, product.k)),
            *more,
        ),
        cost=Cost(
            flops={Precision.FP32: 2 * product.m * product.n * product.k + flops},
            special_function_ops=special,
            compulsory=Traffic(read_bytes=(left + right) * read.itemsize, write_bytes=result),
            issued=Traffic(
                read_bytes=(across * left + down * right) * read.itemsize, write_bytes=result
            ),
        ),
    )


def _pairs(size: LayerSize) -> int:
    return size.seq * size.turned.heads * size.dim // 2


def _rope(size: LayerSize, threads: int) -> Launch:
    """Queries and keys are read and written once; a thread for each pair."""
    token_blocks = -(-size.turned.heads * size.dim // 2 // threads)
    moved = 2 * _pairs(size) * BETWEEN.itemsize
    traffic = Traffic(read_bytes=moved, write_bytes=moved)
    return Launch(
        entry="layer_rope",
        grid=line_of_blocks(size.seq * token_blocks, "layer_rope", size),
        block=(threads, 1, 1),
        arguments=(
            Pointer("qkv"),
            *(unsigned(one) for one in (size.turned.heads, size.width, token_blocks)),
            frequency_step(size.dim),
        ),
        cost=Cost(
            flops={Precision.FP32: FLOPS_PER_PAIR * _pairs(size)},
            special_function_ops=COMPUTED_PER_PAIR * _pairs(size),
            compulsory=traffic,
            issued=traffic,
        ),
    )


def _attention(size: LayerSize, dtype: DType, tile: RowTile) -> Launch:
    """As attention.flash_v2, from float32 queries, keys and values."""
    inside = size.attention
    tiles = inside.heads * costs.tiles_per_head(inside, tile.rows, tile.keys)
    written = costs.query_bytes(inside, dtype)
    return Launch(
        entry="layer_attention",
        grid=line_of_blocks(inside.heads * -(-inside.seq // tile.rows), "layer_attention", size),
        block=(tile.threads, 1, 1),
        arguments=(
            *(Pointer("qkv"), Pointer("attended")),
            *(unsigned(one) for one in (size.seq, size.heads, size.kv_heads)),
            Scalar(CType.FLOAT32, inside.scale),
        ),
        dynamic_shared_bytes=tile.shared_bytes,
        cost=Cost(
            flops=costs.total_flops(inside, Precision.FP32),
            special_function_ops=tiles * tile.special_per_tile,
            compulsory=Traffic(
                read_bytes=costs.compulsory(inside, BETWEEN).read_bytes, write_bytes=written
            ),
            issued=Traffic(
                read_bytes=costs.tiled_reads(inside, BETWEEN, tile.rows, tile.keys),
                write_bytes=written,
            ),
        ),
    )


def _launches(
    size: LayerSize, dtype: DType, tile: Tile, rows: RowTile, *, fused: bool
) -> tuple[Launch, ...]:
    first = GemmSize(m=size.seq, n=size.width, k=size.hidden)
    last = GemmSize(m=size.seq, n=size.hidden, k=size.inner)
    turned = unsigned(size.turned.heads * size.dim)
    project = _projection(
        "layer_project_qkv",
        first,
        tile,
        ("x", "w_qkv", "qkv"),
        (dtype, BETWEEN),
        more=(turned, frequency_step(size.dim)) if fused else (),
        flops=FLOPS_PER_PAIR * _pairs(size) if fused else 0,
        special=COMPUTED_PER_PAIR * _pairs(size) if fused else 0,
    )
    return (
        project,
        *(() if fused else (_rope(size, rows.threads),)),
        _attention(size, dtype, rows),
        _projection("layer_project_out", last, tile, ("attended", "w_out", "y"), (dtype, dtype)),
    )


def _buffers(size: LayerSize, dtype: DType) -> tuple[Buffer, ...]:
    token = (size.seq, size.hidden)
    return (
        Buffer(name="x", shape=token, dtype=dtype, role=Role.INPUT),
        Buffer(name="w_qkv", shape=(size.hidden, size.width), dtype=dtype, role=Role.INPUT),
        Buffer(name="w_out", shape=(size.inner, size.hidden), dtype=dtype, role=Role.INPUT),
        Buffer(name="qkv", shape=(size.seq, size.width), dtype=BETWEEN, role=Role.SCRATCH),
        Buffer(name="attended", shape=(size.seq, size.inner), dtype=dtype, role=Role.SCRATCH),
        Buffer(name="y", shape=token, dtype=dtype, role=Role.OUTPUT),
    )


def _plan(size: LayerSize, dtype: DType, limits: LaunchLimits, *, fused: bool) -> Plan:
    """The launches in order. The whole needs x and the weights once and writes y once."""
    _check(size)
    tile, rows = _tile(size, limits), row_tile(size.dim, limits)
    launches = _launches(size, dtype, tile, rows, fused=fused)
    issued, special = add_issued(one.cost for one in launches)
    weights = size.hidden * size.width + size.inner * size.hidden
    tokens = size.seq * size.hidden * dtype.itemsize
    return Plan(
        buffers=_buffers(size, dtype),
        launches=launches,
        cost=Cost(
            flops={Precision.FP32: sum(one.cost.flops[Precision.FP32] for one in launches)},
            special_function_ops=special,
            compulsory=Traffic(read_bytes=tokens + weights * dtype.itemsize, write_bytes=tokens),
            issued=issued,
        ),
        defines={
            "BLOCK_THREADS": str(rows.threads),
            "DIM": str(size.dim),
            "CAUSAL": str(size.causal),
            "TILE_M": str(tile.rows),
            "TILE_N": str(tile.cols),
            "HIDDEN_BY_QUAD": str(int(size.hidden % QUAD == 0)),
        }
        | rows.defines
        | element_define(dtype),
    )


def plan_unfused(size: LayerSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Four launches."""
    return _plan(size, dtype, limits, fused=False)


def plan_fused_rope(size: LayerSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Three launches."""
    return _plan(size, dtype, limits, fused=True)


KERNELS: tuple[KernelSpec[LayerSize], ...] = (
    variant(
        LAYER, "unfused", "four launches: projection, rope, attention, projection", plan_unfused
    ),
    variant(LAYER, "fused_rope", "rope in the first projection's registers", plan_fused_rope),
)
