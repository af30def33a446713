"""The four matrix products, in the order of the ladder: launch shapes and costs."""

from dataclasses import dataclass, replace

from rooflens.cost import Cost, Traffic
from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.gemm.family import GEMM, GemmSize
from rooflens.kernels.rowwise import ACCESS_BYTES, pack_elements, unsigned, variant
from rooflens.kernels.spec import (
    Buffer,
    KernelSpec,
    Launch,
    Plan,
    Pointer,
    Role,
    Triple,
    line_of_blocks,
)
from rooflens.kernels.storage import element_define
from rooflens.precision import DType, Precision

WARP = 32
NAIVE_ROWS = 8
SHARED_TILE = 16
QUAD = 4  # elements of one access of register_tiled

# As in tensor_core.cu.
DEPTH = 32
STAGES = 3
TENSOR_CORE_SINCE = (8, 0)

TENSOR_PRECISION = {
    DType.FLOAT16: Precision.FP16_TENSOR_FP32_ACC,
    DType.BFLOAT16: Precision.BF16_TENSOR_FP32_ACC,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """What a block computes of C: rows x cols elements, in warps of warp_rows x warp_cols."""

    rows: int
    cols: int
    warp_rows: int
    warp_cols: int

    def count(self, size: GemmSize) -> int:
        """Tiles that cover C."""
        return -(-size.m // self.rows) * -(-size.n // self.cols)

    @property
    def warps(self) -> int:
        return self.rows // self.warp_rows * (self.cols // self.warp_cols)


# A thread of register_tiled has 8 x 8 elements, so a warp has 2048 of them.
REGISTER_TILES = (
    Tile(rows=128, cols=128, warp_rows=16, warp_cols=128),
    Tile(rows=64, cols=64, warp_rows=32, warp_cols=64),
)
TENSOR_TILES = (
    Tile(rows=128, cols=128, warp_rows=64, warp_cols=32),
    Tile(rows=64, cols=64, warp_rows=32, warp_cols=32),
)


def choose_tile(tiles: tuple[Tile, ...], size: GemmSize, limits: LaunchLimits) -> Tile:
    """The largest tile with work for every multiprocessor; the smallest where none has."""
    for tile in tiles:
        if tile.count(size) >= limits.sm_count:
            return tile
    return tiles[-1]


def _issued(size: GemmSize, dtype: DType, *, a_loads: int, b_loads: int) -> Traffic:
    """Each element of A asked for `a_loads` times, of B `b_loads` times; C is written once."""
    elements = a_loads * size.m * size.k + b_loads * size.k * size.n
    return Traffic(
        read_bytes=elements * dtype.itemsize, write_bytes=size.m * size.n * dtype.itemsize
    )


def _cost(size: GemmSize, dtype: DType, precision: Precision, issued: Traffic) -> Cost:
    """2 m n k operations: as many multiply-adds as A, B and C span, the first of each onto 0."""
    inputs = size.m * size.k + size.k * size.n
    return Cost(
        flops={precision: 2 * size.m * size.n * size.k},
        special_function_ops=0,
        compulsory=Traffic(
            read_bytes=inputs * dtype.itemsize, write_bytes=size.m * size.n * dtype.itemsize
        ),
        issued=issued,
    )


def _plan(
    size: GemmSize,
    dtype: DType,
    *,
    entry: str,
    blocks: int,
    block: Triple,
    cost: Cost,
    defines: dict[str, str] | None = None,
    dynamic_shared_bytes: int = 0,
) -> Plan:
    launch = Launch(
        entry=entry,
        grid=line_of_blocks(blocks, entry, size),
        block=block,
        arguments=(
            *(Pointer(name) for name in ("a", "b", "c")),
            *(unsigned(extent) for extent in (size.m, size.n, size.k)),
        ),
        cost=cost,
        dynamic_shared_bytes=dynamic_shared_bytes,
    )
    return Plan(
        buffers=(
            Buffer(name="a", shape=(size.m, size.k), dtype=dtype, role=Role.INPUT),
            Buffer(name="b", shape=(size.k, size.n), dtype=dtype, role=Role.INPUT),
            Buffer(name="c", shape=(size.m, size.n), dtype=dtype, role=Role.OUTPUT),
        ),
        launches=(launch,),
        cost=cost,
        defines=element_define(dtype) | (defines or {}),
    )


def plan_naive(size: GemmSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Per step along k a warp asks for one element of A and each of its threads for one of B."""
    across = -(-size.n // WARP)
    issued = _issued(size, dtype, a_loads=across, b_loads=size.m)
    return _plan(
        size,
        dtype,
        entry="gemm_naive",
        blocks=-(-size.m // NAIVE_ROWS) * across,
        block=(WARP, NAIVE_ROWS, 1),
        cost=_cost(size, dtype, Precision.FP32, issued),
    )


def plan_shared(size: GemmSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Each element of A is loaded once per tile across, of B once per tile down."""
    down, across = -(-size.m // SHARED_TILE), -(-size.n // SHARED_TILE)
    issued = _issued(size, dtype, a_loads=across, b_loads=down)
    return _plan(
        size,
        dtype,
        entry="gemm_shared",
        blocks=down * across,
        block=(SHARED_TILE, SHARED_TILE, 1),
        cost=_cost(size, dtype, Precision.FP32, issued),
    )


def _plan_tiled(
    size: GemmSize,
    dtype: DType,
    tile: Tile,
    *,
    entry: str,
    precision: Precision,
    aligned_elements: int,
    defines: dict[str, str] | None = None,
    dynamic_shared_bytes: int = 0,
) -> Plan:
    """Plan of a variant whose blocks take the tiles of C one each.

    Accesses are wide where rows are a multiple of `aligned_elements` long.
    """
    issued = _issued(size, dtype, a_loads=-(-size.n // tile.cols), b_loads=-(-size.m // tile.rows))
    return _plan(
        size,
        dtype,
        entry=entry,
        blocks=tile.count(size),
        block=(tile.warps * WARP, 1, 1),
        cost=_cost(size, dtype, precision, issued),
        defines={
            "TILE_M": str(tile.rows),
            "TILE_N": str(tile.cols),
            "A_ALIGNED": str(int(size.k % aligned_elements == 0)),
            "B_ALIGNED": str(int(size.n % aligned_elements == 0)),
        }
        | (defines or {}),
        dynamic_shared_bytes=dynamic_shared_bytes,
    )


def plan_register_tiled(size: GemmSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """As shared, with tiles of 128 x 128, or of 64 x 64 where those are too few for the card."""
    return _plan_tiled(
        size,
        dtype,
        choose_tile(REGISTER_TILES, size, limits),
        entry="gemm_register_tiled",
        precision=Precision.FP32,
        aligned_elements=QUAD,
    )


def stage_bytes(tile: Tile, dtype: DType) -> int:
    """Shared memory of one stage of tensor_core: both tiles, each row 16 bytes longer."""
    a_row, b_row = DEPTH * dtype.itemsize + ACCESS_BYTES, tile.cols * dtype.itemsize + ACCESS_BYTES
    return tile.rows * a_row + DEPTH * b_row


def plan_tensor_core(size: GemmSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """As register_tiled, on the tensor units."""
    if limits.compute_capability < TENSOR_CORE_SINCE:
        major, minor = limits.compute_capability
        raise NotSupportedError(
            f"gemm.tensor_core copies asynchronously, which needs compute capability 8.0, "
            f"this card has {major}.{minor}"
        )
    tile = choose_tile(TENSOR_TILES, size, limits)
    return _plan_tiled(
        size,
        dtype,
        tile,
        entry="gemm_tensor_core",
        precision=TENSOR_PRECISION[dtype],
        aligned_elements=pack_elements(dtype),
        defines={"WARP_M": str(tile.warp_rows), "WARP_N": str(tile.warp_cols)},
        dynamic_shared_bytes=STAGES * stage_bytes(tile, dtype),
    )


KERNELS: tuple[KernelSpec[GemmSize], ...] = (
    variant(GEMM, "naive", "a thread per element, neighbours along a row", plan_naive),
    variant(GEMM, "shared", "16 x 16 tiles of A and B in shared memory", plan_shared),
    variant(GEMM, "register_tiled", "8 x 8 elements a thread in registers", plan_register_tiled),
    replace(
        variant(
            GEMM,
            "tensor_core",
            "16 x 16 x 16 multiply-adds of the tensor units, float32 accumulators",
            plan_tensor_core,
        ),
        dtypes=tuple(TENSOR_PRECISION),
    ),
)
