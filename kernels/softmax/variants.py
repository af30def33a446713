"""The seven softmax variants, in the order of the ladder: launch shapes and costs."""

from collections.abc import Callable

from rooflens.cost import Cost, Traffic, add_issued
from rooflens.hardware import LaunchLimits
from rooflens.kernels.rowwise import pack_elements, unsigned, variant
from rooflens.kernels.softmax.family import SOFTMAX, SoftmaxSize
from rooflens.kernels.spec import (
    Argument,
    Buffer,
    KernelSpec,
    Launch,
    Plan,
    Pointer,
    Role,
)
from rooflens.kernels.storage import element_define
from rooflens.precision import DType, Precision

BLOCK_THREADS = 256
ROW_THREADS = 128  # thread_per_row: smaller blocks spread few rows over more multiprocessors
WARP = 32
GROUP = 8  # of common/softmax.cuh
CACHED_SCRATCH_BYTES = WARP * 4  # static shared memory of cached.cu
CACHE_BYTES = DType.FLOAT32.itemsize  # an element of its cache
X, Y, MAXIMA, SUMS = Pointer("x"), Pointer("y"), Pointer("maxima"), Pointer("sums")
EXPONENTIALS = Pointer("exponentials")


def _matrix_bytes(size: SoftmaxSize, dtype: DType) -> int:
    return size.rows * size.cols * dtype.itemsize


def _flops(size: SoftmaxSize) -> int:
    """Per row cols subtractions, cols - 1 additions, cols divisions (exponentials are apart)."""
    return size.rows * (3 * size.cols - 1)


def _buffers(size: SoftmaxSize, dtype: DType) -> tuple[Buffer, ...]:
    shape = (size.rows, size.cols)
    return (
        Buffer(name="x", shape=shape, dtype=dtype, role=Role.INPUT),
        Buffer(name="y", shape=shape, dtype=dtype, role=Role.OUTPUT),
    )


def _single_launch(
    size: SoftmaxSize,
    dtype: DType,
    *,
    entry: str,
    blocks: int,
    threads: int,
    arguments: tuple[Argument, ...],
    read_bytes: int,
    special_function_ops: int,
    dynamic_shared_bytes: int = 0,
) -> Plan:
    """Plan of a variant that is one launch and writes y once."""
    matrix = _matrix_bytes(size, dtype)
    cost = Cost(
        flops={Precision.FP32: _flops(size)},
        special_function_ops=special_function_ops,
        compulsory=Traffic(read_bytes=matrix, write_bytes=matrix),
        issued=Traffic(read_bytes=read_bytes, write_bytes=matrix),
    )
    launch = Launch(
        entry=entry,
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=arguments,
        dynamic_shared_bytes=dynamic_shared_bytes,
        cost=cost,
    )
    return Plan(
        buffers=_buffers(size, dtype),
        launches=(launch,),
        cost=cost,
        defines={"BLOCK_THREADS": str(threads)} | element_define(dtype),
    )


def plan_unfused(size: SoftmaxSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Four launches; 4N read and 2N written, beside two vectors of one value a row.

    Intermediates are float32. With float32 tensors y holds the exponentials until they are
    divided; narrower ones have a scratch tensor for them.
    """
    matrix, elements = _matrix_bytes(size, dtype), size.rows * size.cols
    vector, wide = size.rows * DType.FLOAT32.itemsize, elements * DType.FLOAT32.itemsize
    in_place = dtype is DType.FLOAT32
    exponentials = Y if in_place else EXPONENTIALS

    def launch(
        entry: str,
        arguments: tuple[Argument, ...],
        read_bytes: int,
        write_bytes: int,
        flops: int,
        special: int = 0,
    ) -> Launch:
        # No launch reads or writes anything twice, so issued and compulsory are one.
        traffic = Traffic(read_bytes=read_bytes, write_bytes=write_bytes)
        cost = Cost(
            flops={Precision.FP32: flops} if flops else {},
            special_function_ops=special,
            compulsory=traffic,
            issued=traffic,
        )
        return Launch(
            entry=entry,
            grid=(size.rows, 1, 1),
            block=(BLOCK_THREADS, 1, 1),
            arguments=(*arguments, unsigned(size.cols)),
            cost=cost,
        )

    divide = "divide" if in_place else "divide_narrow"
    divide_arguments = (Y, SUMS) if in_place else (EXPONENTIALS, SUMS, Y)
    launches = (
        launch("row_max", (X, MAXIMA), matrix, vector, 0),
        launch("exp_shifted", (X, MAXIMA, exponentials), matrix + vector, wide, elements, elements),
        launch("row_sum", (exponentials, SUMS), wide, vector, size.rows * (size.cols - 1)),
        launch(divide, divide_arguments, wide + vector, matrix, elements),
    )
    return Plan(
        buffers=(*_buffers(size, dtype), *_scratch(size, in_place)),
        launches=launches,
        cost=_whole_cost(size, dtype, launches),
        defines={"BLOCK_THREADS": str(BLOCK_THREADS)} | element_define(dtype),
    )


def _scratch(size: SoftmaxSize, in_place: bool) -> tuple[Buffer, ...]:
    """float32 intermediates of the unfused variant."""
    shapes: dict[str, tuple[int, ...]] = {"maxima": (size.rows,), "sums": (size.rows,)}
    if not in_place:
        shapes["exponentials"] = (size.rows, size.cols)
    return tuple(
        Buffer(name=name, shape=shape, dtype=DType.FLOAT32, role=Role.SCRATCH)
        for name, shape in shapes.items()
    )


def _whole_cost(size: SoftmaxSize, dtype: DType, launches: tuple[Launch, ...]) -> Cost:
    """What several launches together cost: the definition's share, and what they ask for."""
    matrix = _matrix_bytes(size, dtype)
    issued, special = add_issued(one.cost for one in launches)
    return Cost(
        flops={Precision.FP32: _flops(size)},
        special_function_ops=special,
        compulsory=Traffic(read_bytes=matrix, write_bytes=matrix),
        issued=issued,
    )


def plan_thread_per_row(size: SoftmaxSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Three passes, exponentials in two of them."""
    return _single_launch(
        size,
        dtype,
        entry="softmax_thread_per_row",
        blocks=-(-size.rows // ROW_THREADS),
        threads=ROW_THREADS,
        arguments=(X, Y, unsigned(size.rows), unsigned(size.cols)),
        read_bytes=3 * _matrix_bytes(size, dtype),
        special_function_ops=2 * size.rows * size.cols,
    )


def online_exponentials(cols: int, threads: int) -> int:
    """Exponentials per row in the online pass: GROUP elements take one more, to rescale.

    A thread's last group is evaluated in full, with -inf where the row has ended.
    """
    whole, rest = divmod(cols, threads * GROUP)
    return (threads * whole + min(rest, threads)) * (GROUP + 1)


def _plan_block_per_row(
    entry: str, passes: int, merge_exponentials: int
) -> Callable[[SoftmaxSize, DType, LaunchLimits], Plan]:
    """A block per row that reads x `passes` times; exponentials in the last two of them.

    Where maximum and sum share a pass (two in all), that pass takes those of `online_exponentials`.
    `merge_exponentials` is what merging the threads' parts takes per row.
    """

    def plan(size: SoftmaxSize, dtype: DType, limits: LaunchLimits) -> Plan:
        online = passes == 2
        first = online_exponentials(size.cols, BLOCK_THREADS) if online else size.cols
        return _single_launch(
            size,
            dtype,
            entry=entry,
            blocks=size.rows,
            threads=BLOCK_THREADS,
            arguments=(X, Y, unsigned(size.cols)),
            read_bytes=passes * _matrix_bytes(size, dtype),
            special_function_ops=size.rows * (first + size.cols + merge_exponentials),
        )

    return plan


def plan_warp_per_row(size: SoftmaxSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Two passes; five shuffle steps in which each of 32 lanes evaluates two exponentials."""
    rows_per_block = BLOCK_THREADS // WARP
    exponentials = online_exponentials(size.cols, WARP) + 5 * WARP * 2 + size.cols
    return _single_launch(
        size,
        dtype,
        entry="softmax_warp_per_row",
        blocks=-(-size.rows // rows_per_block),
        threads=BLOCK_THREADS,
        arguments=(X, Y, unsigned(size.rows), unsigned(size.cols)),
        read_bytes=2 * _matrix_bytes(size, dtype),
        special_function_ops=size.rows * exponentials,
    )


def cached_threads(cols: int) -> int:
    """About 16 elements a thread, four 16-byte loads: a power of two from 32 to 1024.

    On an H200 at 16384 x 4096, 8 elements a thread took 162 us, 16 took 131 us and 32 took 134 us.
    """
    return min(1024, max(WARP, 1 << (-(-cols // 16) - 1).bit_length()))


def plan_cached(size: SoftmaxSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """One pass over what fits in shared memory; the rest of a longer row is read three times.

    The cache is float32 whatever the tensors are; it holds a whole number of 16-byte accesses.
    """
    pack = pack_elements(dtype)
    room = (limits.shared_bytes_per_block - CACHED_SCRATCH_BYTES) // CACHE_BYTES
    cached = min(size.cols, room // pack * pack)
    beyond = size.cols - cached
    threads = cached_threads(size.cols)
    return _single_launch(
        size,
        dtype,
        entry="softmax_cached",
        blocks=size.rows,
        threads=threads,
        arguments=(X, Y, unsigned(size.cols), unsigned(cached)),
        read_bytes=size.rows * (cached + 3 * beyond) * dtype.itemsize,
        special_function_ops=size.rows * (cached + 2 * beyond),
        dynamic_shared_bytes=cached * CACHE_BYTES,
    )


KERNELS: tuple[KernelSpec[SoftmaxSize], ...] = (
    variant(SOFTMAX, "unfused", "one launch each for maximum, exp, sum and division", plan_unfused),
    variant(
        SOFTMAX, "thread_per_row", "one launch, a thread alone with its row", plan_thread_per_row
    ),
    variant(
        SOFTMAX,
        "naive",
        "a block per row, three passes, shared-memory tree reductions",
        _plan_block_per_row("softmax_naive", passes=3, merge_exponentials=0),
    ),
    variant(
        SOFTMAX,
        "online",
        "maximum and sum in one pass, the sum rescaled as the maximum grows",
        _plan_block_per_row("softmax_online", passes=2, merge_exponentials=2 * (BLOCK_THREADS - 1)),
    ),
    variant(
        SOFTMAX,
        "warp_reduce",
        "as online, merged by warp shuffles and one cross-warp step",
        _plan_block_per_row("softmax_warp_reduce", passes=2, merge_exponentials=BLOCK_THREADS),
    ),
    variant(SOFTMAX, "warp_per_row", "a warp per row, no barriers", plan_warp_per_row),
    variant(SOFTMAX, "cached", "the row kept in shared memory: x is read once", plan_cached),
)
