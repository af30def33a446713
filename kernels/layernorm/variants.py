"""The five layernorm variants, in the order of the ladder: launch shapes and costs."""

from collections.abc import Callable, Mapping

from rooflens.cost import Cost, Traffic
from rooflens.hardware import LaunchLimits
from rooflens.kernels.layernorm.family import EPSILON, LAYERNORM, LayerNormSize
from rooflens.kernels.rowwise import KeptRow, unsigned, variant
from rooflens.kernels.spec import Buffer, CType, KernelSpec, Launch, Plan, Pointer, Role, Scalar
from rooflens.kernels.storage import element_define
from rooflens.precision import DType, Precision

BLOCK_THREADS = 256
WARP = 32


def _cost(size: LayerNormSize, dtype: DType, *, x_elements_read: int, roots_per_row: int) -> Cost:
    """Each block reads gamma and beta once for its row, whatever it reads of x.

    Per row cols - 1 additions and a division for the mean; cols subtractions; cols products, cols -
    1 additions and a division for the variance; epsilon added; cols products each with 1 / std and
    gamma, and cols additions of beta: 7 cols + 1.
    """
    item = dtype.itemsize
    matrix, vector = size.rows * size.cols * item, size.cols * item
    return Cost(
        flops={Precision.FP32: size.rows * (7 * size.cols + 1)},
        special_function_ops=size.rows * roots_per_row,
        compulsory=Traffic(read_bytes=matrix + 2 * vector, write_bytes=matrix),
        issued=Traffic(
            read_bytes=size.rows * x_elements_read * item + 2 * matrix, write_bytes=matrix
        ),
    )


def _block_per_row(
    size: LayerNormSize,
    dtype: DType,
    *,
    entry: str,
    threads: int,
    cost: Cost,
    defines: Mapping[str, str],
) -> Plan:
    shape = (size.rows, size.cols)
    launch = Launch(
        entry=entry,
        grid=(size.rows, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            *(Pointer(name) for name in ("x", "gamma", "beta", "y")),
            unsigned(size.cols),
            Scalar(CType.FLOAT32, EPSILON),
        ),
        cost=cost,
    )
    return Plan(
        buffers=(
            Buffer(name="x", shape=shape, dtype=dtype, role=Role.INPUT),
            Buffer(name="gamma", shape=(size.cols,), dtype=dtype, role=Role.INPUT),
            Buffer(name="beta", shape=(size.cols,), dtype=dtype, role=Role.INPUT),
            Buffer(name="y", shape=shape, dtype=dtype, role=Role.OUTPUT),
        ),
        launches=(launch,),
        cost=cost,
        defines={"BLOCK_THREADS": str(threads)} | element_define(dtype) | dict(defines),
    )


def _plan_passes(
    entry: str, passes: int, roots_per_row: int
) -> Callable[[LayerNormSize, DType, LaunchLimits], Plan]:
    """A block per row that reads x `passes` times; `roots_per_row` threads evaluate 1 / std."""

    def plan(size: LayerNormSize, dtype: DType, limits: LaunchLimits) -> Plan:
        return _block_per_row(
            size,
            dtype,
            entry=entry,
            threads=BLOCK_THREADS,
            cost=_cost(
                size, dtype, x_elements_read=passes * size.cols, roots_per_row=roots_per_row
            ),
            defines={},
        )

    return plan


def row_threads(cols: int) -> int:
    """About 16 elements a thread: a power of two from 32 to 1024."""
    return min(1024, max(WARP, 1 << (-(-cols // 16) - 1).bit_length()))


def plan_two_pass_warp(size: LayerNormSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """One pass over what fits in registers; the rest of a longer row is read three times."""
    threads = row_threads(size.cols)
    row = KeptRow(cols=size.cols, dtype=dtype, threads=threads)
    return _block_per_row(
        size,
        dtype,
        entry="layernorm_two_pass_warp",
        threads=threads,
        cost=_cost(size, dtype, x_elements_read=row.kept + 3 * row.beyond, roots_per_row=threads),
        defines=row.defines,
    )


KERNELS: tuple[KernelSpec[LayerNormSize], ...] = (
    variant(
        LAYERNORM,
        "naive",
        "a block per row: a pass each for mean, variance and writing",
        _plan_passes("layernorm_naive", passes=3, roots_per_row=BLOCK_THREADS),
    ),
    variant(
        LAYERNORM,
        "sum_squares",
        "one pass for sum and sum of squares, E[x^2] - mean^2: cancels where the mean is large",
        _plan_passes("layernorm_sum_squares", passes=2, roots_per_row=BLOCK_THREADS),
    ),
    variant(
        LAYERNORM,
        "welford",
        "one pass by Welford's recurrence, parts merged by Chan's formula in a tree",
        _plan_passes("layernorm_welford", passes=2, roots_per_row=BLOCK_THREADS),
    ),
    variant(
        LAYERNORM,
        "warp_reduce",
        "as welford, merged by warp shuffles, mean and 1 / std broadcast",
        _plan_passes("layernorm_warp_reduce", passes=2, roots_per_row=1),
    ),
    variant(
        LAYERNORM,
        "two_pass_warp",
        "mean, then centred variance, the row kept in registers: x is read once",
        plan_two_pass_warp,
    ),
)
