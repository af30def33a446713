"""What is checked between a plan and its launch, against code that is really compiled."""

import dataclasses

import pytest

from rooflens.errors import (
    CompileError,
    DoesNotFitError,
    NotSupportedError,
    UsageError,
)
from rooflens.hardware import LaunchLimits
from rooflens.kernels.softmax import KERNELS, SoftmaxSize
from rooflens.kernels.spec import (
    Argument,
    CType,
    KernelSpec,
    Launch,
    Plan,
    Pointer,
    Scalar,
)
from rooflens.precision import DType
from rooflens.profiler.prepare import Prepared, prepare
from rooflens.terms import Basis, Status

pytestmark = pytest.mark.usefixtures("nvrtc")

LIMITS = LaunchLimits(compute_capability=(8, 9), sm_count=128, shared_bytes_per_block=101_376)
SIZE = SoftmaxSize(rows=4, cols=100)
(NAIVE,) = (kernel for kernel in KERNELS if kernel.variant == "naive")
X, Y, COLS = Pointer("x"), Pointer("y"), Scalar(CType.UINT32, 100)


def prepared(
    kernel: KernelSpec[SoftmaxSize] = NAIVE,
    size: SoftmaxSize = SIZE,
    dtype: DType = DType.FLOAT32,
    memory_bytes: int | None = None,
) -> Prepared:
    return prepare(kernel, size, dtype, limits=LIMITS, memory_bytes=memory_bytes, cache=None)


def altered(**changes: object) -> KernelSpec[SoftmaxSize]:
    """softmax.naive with its launch changed."""

    def plan(size: SoftmaxSize, dtype: DType, limits: LaunchLimits) -> Plan:
        good = NAIVE.plan(size, dtype, limits)
        launch = dataclasses.replace(good.launches[0], **changes)  # type: ignore[arg-type]
        return dataclasses.replace(good, launches=(launch,))

    return dataclasses.replace(NAIVE, plan=plan)


def test_the_row_holds_what_the_code_takes() -> None:
    row = prepared().record(status=Status.OK, basis=Basis.MODELLED)
    assert row.kernel == "softmax.naive"
    assert row.size == {"rows": 4, "cols": 100}
    assert row.architecture == "sm_89"
    assert row.resources is not None
    assert row.resources.shared_bytes == 1024  # 256 floats of scratch
    assert row.working_set_bytes == 2 * 4 * 100 * 4
    assert row.times == {}


@pytest.mark.parametrize(
    "arguments",
    [
        (X, Y, Scalar(CType.UINT64, 100)),
        (X, Y, Scalar(CType.FLOAT64, 100.0)),
        (X, Y),
        (X, Y, COLS, COLS),
        (X, COLS, Y),
    ],
)
def test_arguments_of_another_number_or_width_are_refused(
    arguments: tuple[Argument, ...],
) -> None:
    with pytest.raises(UsageError, match=r"takes parameters of \[8, 8, 4\] bytes"):
        prepared(altered(arguments=arguments))


def test_a_missing_entry_point_is_named_with_those_there_are() -> None:
    with pytest.raises(CompileError, match=r"'nope'.*\['softmax_naive'\]"):
        prepared(altered(entry="nope"))


def test_more_shared_memory_than_a_block_may_have_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="1024 \\+ 101376 bytes of shared memory"):
        prepared(altered(dynamic_shared_bytes=101_376))
    prepared(altered(dynamic_shared_bytes=101_376 - 1024))


def test_a_dtype_that_a_kernel_lacks_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="no int32 version; it has float32"):
        prepared(dtype=DType.INT32)


def test_buffers_over_the_memory_are_refused_with_the_numbers() -> None:
    needed = 2 * 4 * 100 * 4
    with pytest.raises(DoesNotFitError, match=r"\(3200 bytes\).*\(3199 bytes\)"):
        prepared(memory_bytes=needed - 1)
    prepared(memory_bytes=needed)


@pytest.mark.parametrize(
    ("ctype", "value"),
    [
        (CType.FLOAT32, 1),
        (CType.FLOAT32, "1"),
        (CType.INT32, 1.0),
        (CType.INT32, True),
        (CType.INT32, 2**31),
        (CType.UINT32, -1),
    ],
)
def test_a_scalar_of_the_wrong_type_is_refused_before_any_launch(
    ctype: CType, value: int | float
) -> None:
    with pytest.raises(UsageError):
        Scalar(ctype, value)


def test_a_python_float_becomes_the_parameters_four_bytes() -> None:
    packed = Scalar(CType.FLOAT32, 0.1).packed()
    assert packed.nbytes == 4
    assert packed.tobytes().hex() == "cdcccc3d"


@pytest.mark.parametrize(
    "shape",
    [
        {"grid": (0, 1, 1)},
        {"block": (1025, 1, 1)},
        {"block": (32, 33, 1)},
        {"grid": (2**31, 1, 1)},
        {"grid": (1, 2**16, 1)},
        {"dynamic_shared_bytes": -1},
    ],
)
def test_a_shape_that_no_card_launches_is_refused(shape: dict[str, object]) -> None:
    good = NAIVE.plan(SIZE, DType.FLOAT32, LIMITS).launches[0]
    with pytest.raises(UsageError):
        dataclasses.replace(good, **shape)  # type: ignore[arg-type]


def test_a_plan_whose_launch_names_no_buffer_is_refused() -> None:
    good = NAIVE.plan(SIZE, DType.FLOAT32, LIMITS)
    launch: Launch = dataclasses.replace(good.launches[0], arguments=(Pointer("z"),))
    with pytest.raises(UsageError, match="no buffer named 'z'"):
        dataclasses.replace(good, launches=(launch,))
