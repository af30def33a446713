"""On a card: every swiglu variant at every kind of size, and every planted fault."""

import numpy as np
import pytest

from rooflens.kernels.spec import KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.kernels.swiglu import KERNELS, SWIGLU, SwigluSize
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_swiglu import SIZE, WRONG_RESULT, planted

SIZES = [
    (1, 1),
    (1, 3),
    (3, 1023),
    (5, 31),
    (128, 11_008),
    (4096, 1025),
    (70_000, 7),
    (1, 1_048_577),
    (8192, 14_337),  # more than the grid of vectorized holds at once in float32
]
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[SwigluSize], size: tuple[int, int], dtype: DType
) -> None:
    rows, cols = size
    row = device.run(kernel, SwigluSize(rows=rows, cols=cols), dtype, QUICK)
    assert_right_and_timed(row)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_every_gate_is_as_defined(
    device: CudaDevice, kernel: KernelSpec[SwigluSize], dtype: DType
) -> None:
    size = SwigluSize(rows=2, cols=4001)
    stored = numpy_type(dtype)
    inf, nan = np.inf, np.nan
    gate = np.linspace(-200.0, 200.0, 8002).reshape(2, 4001)  # through every overflow
    up = np.ones((2, 4001))
    gate[0, :8] = (inf, inf, inf, -inf, -inf, nan, 1.0, -inf)
    up[0, :8] = (2.0, -2.0, 0.0, 2.0, inf, 0.0, nan, -2.0)
    inputs = {"gate": gate.astype(stored), "up": up.astype(stored)}
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        outputs = execution.run_checked(inputs)
    truth = SWIGLU.reference(inputs, size)
    found = compare(outputs, truth, SWIGLU.tolerance(size, dtype))
    assert found.passed, found.failure


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    row = device.run(planted(fault), SIZE, DType.FLOAT32, QUICK)
    assert_refused(row)
