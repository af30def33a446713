"""The two swiglu variants, in the order of the ladder: launch shapes and costs."""

from collections.abc import Mapping

from rooflens.cost import Cost, Traffic
from rooflens.hardware import LaunchLimits
from rooflens.kernels.rowwise import pack_elements, variant
from rooflens.kernels.spec import (
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
from rooflens.kernels.swiglu.family import SWIGLU, SwigluSize
from rooflens.precision import DType, Precision

BLOCK_THREADS = 256
PACKS_PER_THREAD = 2  # of each input: four 16-byte loads before the first is used
BLOCKS_PER_SM = 256  # a block loops only in tensors that would need more


def _single_launch(
    size: SwigluSize, dtype: DType, *, entry: str, blocks: int, defines: Mapping[str, str]
) -> Plan:
    """No variant reads or writes anything twice, so issued and compulsory traffic are one.

    Per element an addition, a division and two products; one exponential.
    """
    shape, count = (size.rows, size.cols), size.rows * size.cols
    traffic = Traffic(read_bytes=2 * count * dtype.itemsize, write_bytes=count * dtype.itemsize)
    cost = Cost(
        flops={Precision.FP32: 4 * count},
        special_function_ops=count,
        compulsory=traffic,
        issued=traffic,
    )
    launch = Launch(
        entry=entry,
        grid=line_of_blocks(blocks, entry, size),
        block=(BLOCK_THREADS, 1, 1),
        arguments=(
            *(Pointer(name) for name in ("gate", "up", "y")),
            Scalar(CType.UINT64, count),
        ),
        cost=cost,
    )
    return Plan(
        buffers=(
            Buffer(name="gate", shape=shape, dtype=dtype, role=Role.INPUT),
            Buffer(name="up", shape=shape, dtype=dtype, role=Role.INPUT),
            Buffer(name="y", shape=shape, dtype=dtype, role=Role.OUTPUT),
        ),
        launches=(launch,),
        cost=cost,
        defines={"BLOCK_THREADS": str(BLOCK_THREADS)} | element_define(dtype) | dict(defines),
    )


def plan_naive(size: SwigluSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A thread for each element; NotSupportedError where a grid cannot hold them."""
    blocks = -(-size.rows * size.cols // BLOCK_THREADS)
    return _single_launch(size, dtype, entry="swiglu_naive", blocks=blocks, defines={})


def plan_vectorized(size: SwigluSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """As many blocks as there is work for, up to BLOCKS_PER_SM a multiprocessor."""
    block_elements = BLOCK_THREADS * PACKS_PER_THREAD * pack_elements(dtype)
    needed = -(-size.rows * size.cols // block_elements)
    return _single_launch(
        size,
        dtype,
        entry="swiglu_vectorized",
        blocks=min(needed, limits.sm_count * BLOCKS_PER_SM),
        defines={"PACKS_PER_THREAD": str(PACKS_PER_THREAD)},
    )


KERNELS: tuple[KernelSpec[SwigluSize], ...] = (
    variant(SWIGLU, "naive", "one element per thread", plan_naive),
    variant(
        SWIGLU,
        "vectorized",
        "16-byte accesses, several in flight a thread, grid-stride",
        plan_vectorized,
    ),
)
