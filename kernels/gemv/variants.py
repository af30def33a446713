"""The four gemv variants, in the order of the ladder: launch shapes and costs."""

from collections.abc import Mapping

from rooflens.cost import Cost, Traffic
from rooflens.hardware import LaunchLimits
from rooflens.kernels.gemv.family import GEMV, GemvSize
from rooflens.kernels.rowwise import pack_elements, unsigned, variant
from rooflens.kernels.spec import Buffer, KernelSpec, Launch, Plan, Pointer, Role, Scalar
from rooflens.kernels.storage import element_define
from rooflens.precision import DType, Precision

WARP = 32
NAIVE_THREADS = 128  # smaller blocks spread few rows over more multiprocessors
BLOCK_THREADS = 256
IN_FLIGHT = 8  # accesses of A that a thread of vectorized asks for at once
SHARED_ROWS = (4, 2)  # rows of a block of vectorized, the most first
BLOCKS_PER_SM = 4  # rows share a block only where that many blocks remain


def _cost(size: GemvSize, dtype: DType, *, x_reads: int) -> Cost:
    """2 m k operations, a multiply-add for each element of A, the first of a row onto 0.

    A is read once; x as a whole `x_reads` times.
    """
    item = dtype.itemsize
    matrix, written = size.m * size.k * item, size.m * item
    return Cost(
        flops={Precision.FP32: 2 * size.m * size.k},
        special_function_ops=0,
        compulsory=Traffic(read_bytes=matrix + size.k * item, write_bytes=written),
        issued=Traffic(read_bytes=matrix + x_reads * size.k * item, write_bytes=written),
    )


def _plan(
    size: GemvSize,
    dtype: DType,
    *,
    name: str,
    blocks: int,
    threads: int,
    extents: tuple[Scalar, ...],
    x_reads: int,
    defines: Mapping[str, str] | None = None,
) -> Plan:
    cost = _cost(size, dtype, x_reads=x_reads)
    launch = Launch(
        entry=f"gemv_{name}",
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(*(Pointer(one) for one in ("a", "x", "y")), *extents),
        cost=cost,
    )
    return Plan(
        buffers=(
            Buffer(name="a", shape=(size.m, size.k), dtype=dtype, role=Role.INPUT),
            Buffer(name="x", shape=(size.k,), dtype=dtype, role=Role.INPUT),
            Buffer(name="y", shape=(size.m,), dtype=dtype, role=Role.OUTPUT),
        ),
        launches=(launch,),
        cost=cost,
        defines={"BLOCK_THREADS": str(threads)} | element_define(dtype) | dict(defines or {}),
    )


def plan_naive(size: GemvSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """The 32 lanes of a warp read one element of x at one address: once a warp."""
    return _plan(
        size,
        dtype,
        name="naive",
        blocks=-(-size.m // NAIVE_THREADS),
        threads=NAIVE_THREADS,
        extents=(unsigned(size.m), unsigned(size.k)),
        x_reads=-(-size.m // WARP),
    )


def plan_warp_per_row(size: GemvSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Eight rows a block; every warp reads all of x."""
    return _plan(
        size,
        dtype,
        name="warp_per_row",
        blocks=-(-size.m // (BLOCK_THREADS // WARP)),
        threads=BLOCK_THREADS,
        extents=(unsigned(size.m), unsigned(size.k)),
        x_reads=size.m,
    )


def plan_block_per_row(size: GemvSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Every block reads all of x."""
    return _plan(
        size,
        dtype,
        name="block_per_row",
        blocks=size.m,
        threads=BLOCK_THREADS,
        extents=(unsigned(size.k),),
        x_reads=size.m,
    )


def plan_vectorized(size: GemvSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """As wide as the length of rows allows; no more threads than a row has accesses."""
    width = min(pack_elements(dtype), size.k & -size.k)
    accesses = size.k // width
    threads = min(BLOCK_THREADS, max(WARP, 1 << (accesses - 1).bit_length()))
    rows = _rows_of_a_block(size, limits)
    return _plan(
        size,
        dtype,
        name="vectorized",
        blocks=size.m // rows,
        threads=threads,
        extents=(unsigned(size.k),),
        x_reads=size.m // rows,
        defines={"GROUP": str(width), "ROWS": str(rows), "ACCESSES": str(IN_FLIGHT // rows)},
    )


def _rows_of_a_block(size: GemvSize, limits: LaunchLimits) -> int:
    """The most that divide m and leave BLOCKS_PER_SM blocks for every multiprocessor."""
    for rows in SHARED_ROWS:
        if size.m % rows == 0 and size.m // rows >= BLOCKS_PER_SM * limits.sm_count:
            return rows
    return 1


KERNELS: tuple[KernelSpec[GemvSize], ...] = (
    variant(GEMV, "naive", "a thread per row", plan_naive),
    variant(GEMV, "warp_per_row", "a warp per row, whole lines, shuffles", plan_warp_per_row),
    variant(GEMV, "block_per_row", "a block per row, one cross-warp step", plan_block_per_row),
    variant(
        GEMV,
        "vectorized",
        "16-byte accesses, several in flight a thread, rows that share x",
        plan_vectorized,
    ),
)
