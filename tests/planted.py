"""Kernels with a known fault each, as catalogue entries of their own."""

from pathlib import Path

from rooflens.cost import Cost, Traffic
from rooflens.hardware import LaunchLimits
from rooflens.kernels.softmax import SOFTMAX, SoftmaxSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import Buffer, CType, KernelSpec, Launch, Plan, Pointer, Role, Scalar
from rooflens.kernels.storage import element_define
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted"
THREADS = 256

# Those that compute a wrong result, as against those that crash or touch what is not theirs.
WRONG_RESULT = (
    "writes_zeros",
    "skips_tail",
    "no_max_subtraction",
    "no_broadcast",
    "reads_past_row",
    "leaves_old_result",
    "shared_race",
    "adds_to_old_result",
)
OUT_OF_BOUNDS = {
    "writes_outside": "wrote outside buffer 'y'",
    "changes_input": "changed its input 'x'",
}


def plan(size: SoftmaxSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A block per row; the cost is not under test."""
    nothing = Traffic(read_bytes=0, write_bytes=0)
    cost = Cost(flops={}, special_function_ops=0, compulsory=nothing, issued=nothing)
    shape = (size.rows, size.cols)
    launch = Launch(
        entry="planted",
        grid=(size.rows, 1, 1),
        block=(THREADS, 1, 1),
        arguments=(Pointer("x"), Pointer("y"), Scalar(CType.UINT32, size.cols)),
        cost=cost,
    )
    return Plan(
        buffers=(
            Buffer(name="x", shape=shape, dtype=dtype, role=Role.INPUT),
            Buffer(name="y", shape=shape, dtype=dtype, role=Role.OUTPUT),
        ),
        launches=(launch,),
        cost=cost,
        defines={"BLOCK_THREADS": str(THREADS)} | element_define(dtype),
    )


def planted(name: str) -> KernelSpec[SoftmaxSize]:
    """The kernel with that fault; `right` has none."""
    return KernelSpec(
        family=SOFTMAX,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        plan=plan,
        include_folders=(KERNELS_FOLDER / "common",),
    )
