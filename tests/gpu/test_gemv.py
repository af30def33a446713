"""On a card: every gemv variant at every kind of size, and every planted fault."""

import numpy as np
import pytest

from rooflens.kernels.gemv import GEMV, KERNELS, GemvSize
from rooflens.kernels.spec import KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_gemv import SIZE, WRONG_RESULT, planted

SIZES = [
    (1, 1),
    (1, 7),
    (33, 1),
    (3, 1023),
    (9, 2050),
    (1, 1_048_577),
    (70_000, 7),
    (4096, 4096),
    (4098, 4095),  # two rows a block of vectorized, one element an access
    (2112, 516),  # a row that ends within a round of accesses
    (513, 8192),
]
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[GemvSize], size: tuple[int, int], dtype: DType
) -> None:
    m, k = size
    row = device.run(kernel, GemvSize(m=m, k=k), dtype, QUICK)
    assert_right_and_timed(row)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_offsets_past_32_bits(device: CudaDevice, kernel: KernelSpec[GemvSize]) -> None:
    size, dtype = GemvSize(m=1025, k=2**22), DType.BFLOAT16  # the last row starts at 2^32
    free_bytes = device.free_bytes
    if free_bytes is not None and free_bytes < 10 * 2**30:
        pytest.skip("needs 10 GiB of device memory")
    a = np.zeros((1025, 2**22), dtype=numpy_type(dtype))
    a[-1] = 1.0
    inputs = {"a": a, "x": np.ones(2**22, dtype=numpy_type(dtype))}
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        y = execution.run_checked(inputs)["y"].astype(np.float64)
    assert y[-1] == 2**22  # a sum of ones is exact
    assert not y[:-1].any()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_a_nan_stays_in_its_row_and_an_infinity_is_one(
    device: CudaDevice, kernel: KernelSpec[GemvSize]
) -> None:
    size = GemvSize(m=5, k=1000)
    inputs = GEMV.make_inputs(size, DType.FLOAT32, np.random.default_rng(0))
    inputs["a"][1, 999], inputs["a"][3, 0] = np.nan, np.inf
    with device.execute(device.prepare(kernel, size, DType.FLOAT32)) as execution:
        outputs = execution.run_checked(inputs)
    found = compare(outputs, kernel.expected(inputs, size), GEMV.tolerance(size, DType.FLOAT32))
    assert found.passed, found.failure
    assert np.isnan(outputs["y"][1])
    assert np.isinf(outputs["y"][3])


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    row = device.run(planted(fault), SIZE, DType.FLOAT32, QUICK)
    assert_refused(row)
