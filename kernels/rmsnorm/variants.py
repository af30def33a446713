"""The two rmsnorm variants, in the order of the ladder: launch shapes and costs."""

from collections.abc import Mapping

from rooflens.cost import Cost, Traffic
from rooflens.hardware import LaunchLimits
from rooflens.kernels.rmsnorm.family import EPSILON, RMSNORM, RmsNormSize
from rooflens.kernels.rowwise import KeptRow, unsigned, variant
from rooflens.kernels.spec import Buffer, CType, KernelSpec, Launch, Plan, Pointer, Role, Scalar
from rooflens.kernels.storage import element_define
from rooflens.precision import DType, Precision

NAIVE_THREADS = 128  # smaller blocks spread few rows over more multiprocessors
ROW_THREADS = 256
WARP = 32


def _vectors(size: RmsNormSize) -> tuple[str, ...]:
    return ("weight", "bias") if size.bias else ("weight",)


def _cost(
    size: RmsNormSize, dtype: DType, *, x_elements_read: int, vector_reads: int, roots: int
) -> Cost:
    """`x_elements_read` is per row; `vector_reads` is how often weight and bias are read in all.

    Per row cols products, cols - 1 additions, a division, epsilon added, and cols products each
    with 1 / rms and the weight: 4 cols + 1, and cols more additions with a bias.
    """
    item = dtype.itemsize
    matrix = size.rows * size.cols * item
    vectors = len(_vectors(size)) * size.cols * item
    return Cost(
        flops={Precision.FP32: size.rows * ((4 + size.bias) * size.cols + 1)},
        special_function_ops=roots,
        compulsory=Traffic(read_bytes=matrix + vectors, write_bytes=matrix),
        issued=Traffic(
            read_bytes=size.rows * x_elements_read * item + vector_reads * vectors,
            write_bytes=matrix,
        ),
    )


def _single_launch(
    size: RmsNormSize,
    dtype: DType,
    *,
    entry: str,
    blocks: int,
    threads: int,
    scalars: tuple[Scalar, ...],
    cost: Cost,
    defines: Mapping[str, str],
) -> Plan:
    shape = (size.rows, size.cols)
    launch = Launch(
        entry=entry,
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            *(Pointer(name) for name in ("x", *_vectors(size), "y")),
            *scalars,
            Scalar(CType.FLOAT32, EPSILON),
        ),
        cost=cost,
    )
    vectors = tuple(
        Buffer(name=name, shape=(size.cols,), dtype=dtype, role=Role.INPUT)
        for name in _vectors(size)
    )
    chosen = {"BLOCK_THREADS": str(threads)} | element_define(dtype) | dict(defines)
    if size.bias:
        chosen["RMSNORM_BIAS"] = "1"
    return Plan(
        buffers=(
            Buffer(name="x", shape=shape, dtype=dtype, role=Role.INPUT),
            *vectors,
            Buffer(name="y", shape=shape, dtype=dtype, role=Role.OUTPUT),
        ),
        launches=(launch,),
        cost=cost,
        defines=chosen,
    )


def plan_naive(size: RmsNormSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """Two passes over x; the 32 lanes of a warp read one weight at one address: once a warp."""
    return _single_launch(
        size,
        dtype,
        entry="rmsnorm_naive",
        blocks=-(-size.rows // NAIVE_THREADS),
        threads=NAIVE_THREADS,
        scalars=(unsigned(size.rows), unsigned(size.cols)),
        cost=_cost(
            size,
            dtype,
            x_elements_read=2 * size.cols,
            vector_reads=-(-size.rows // WARP),
            roots=size.rows,
        ),
        defines={},
    )


def plan_warp(size: RmsNormSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """One pass over what fits in registers; the rest of a longer row is read twice."""
    row = KeptRow(cols=size.cols, dtype=dtype, threads=ROW_THREADS)
    return _single_launch(
        size,
        dtype,
        entry="rmsnorm_warp",
        blocks=size.rows,
        threads=ROW_THREADS,
        scalars=(unsigned(size.cols),),
        cost=_cost(
            size,
            dtype,
            x_elements_read=row.kept + 2 * row.beyond,
            vector_reads=size.rows,
            roots=size.rows * ROW_THREADS,
        ),
        defines=row.defines,
    )


KERNELS: tuple[KernelSpec[RmsNormSize], ...] = (
    variant(RMSNORM, "naive", "a thread alone with its row, two passes", plan_naive),
    variant(
        RMSNORM,
        "warp",
        "256 threads per row, vector accesses, the row kept in registers, warp shuffles",
        plan_warp,
    ),
)
