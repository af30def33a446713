"""On a card: every rmsnorm variant at every kind of size, and every planted fault."""

import numpy as np
import pytest

from rooflens.kernels.rmsnorm import KERNELS, RMSNORM, RmsNormSize
from rooflens.kernels.spec import KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_rmsnorm import SIZE, WRONG_RESULT, planted

SIZES = [
    (1, 1, 0),
    (1, 2, 1),
    (3, 1023, 0),
    (5, 31, 1),
    (2048, 4096, 0),
    (128, 4096, 1),
    (4096, 1025, 0),
    (33, 1032, 1),  # whole packs of every type, but no multiple of a block
    (70_000, 7, 0),
    (2, 70_000, 1),  # more than registers hold
    (1, 1_048_577, 0),
]
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[RmsNormSize], size: tuple[int, int, int], dtype: DType
) -> None:
    rows, cols, bias = size
    row = device.run(kernel, RmsNormSize(rows=rows, cols=cols, bias=bias), dtype, QUICK)
    assert_right_and_timed(row)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [515, 520])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_nan_and_infinity_are_as_defined(
    device: CudaDevice, kernel: KernelSpec[RmsNormSize], cols: int, dtype: DType
) -> None:
    size = RmsNormSize(rows=6, cols=cols)
    inputs = RMSNORM.make_inputs(size, dtype, np.random.default_rng(0))
    for row, poison in enumerate((np.nan, np.inf, -np.inf)):
        inputs["x"][row, 7] = numpy_type(dtype).type(poison)
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        outputs = execution.run_checked(inputs)
    truth = RMSNORM.reference(inputs, size)
    found = compare(outputs, truth, RMSNORM.tolerance(size, dtype))
    assert found.passed, found.failure


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    row = device.run(planted(fault), SIZE, DType.FLOAT32, QUICK)
    assert_refused(row)
