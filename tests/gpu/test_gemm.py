"""On a card: every gemm variant at every kind of size, and every planted fault."""

import numpy as np
import pytest

from rooflens.kernels.gemm import GEMM, KERNELS, GemmSize
from rooflens.kernels.spec import KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import CacheState, Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_gemm import (
    OVERFLOW_RESULT,
    OVERFLOW_SIZE,
    SIZE,
    WRONG_RESULT,
    overflowing_inputs,
    planted,
)

SIZES = [
    (1, 1, 1),
    (1, 7, 5),
    (17, 33, 65),
    (128, 127, 129),
    (130, 64, 31),  # rows of B on 16 bytes, those of A not
    (127, 130, 64),  # rows of A on 16 bytes, those of B not
    (300, 520, 1),
    (1, 1000, 777),
    (1000, 1, 776),
    (64, 64, 8192),
    (1024, 1024, 1024),
    (1531, 2050, 100),  # large tiles, ragged on both sides
    (2056, 1928, 264),  # the same with wide accesses
    (33, 1, 100_003),
    (9000, 70, 40),
]
CASES = [(kernel, dtype) for kernel in KERNELS for dtype in kernel.dtypes]
CASE_NAMES = [f"{kernel.name}-{dtype}" for kernel, dtype in CASES]
TENSOR_CORE = KERNELS[-1]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("kernel", "dtype"), CASES, ids=CASE_NAMES)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[GemmSize], dtype: DType, size: tuple[int, int, int]
) -> None:
    m, n, k = size
    row = device.run(kernel, GemmSize(m=m, n=n, k=k), dtype, QUICK)
    assert_right_and_timed(row)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "dtype"), CASES, ids=CASE_NAMES)
def test_seed_size_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[GemmSize], dtype: DType
) -> None:
    assert_right_and_timed(device.run(kernel, GemmSize(m=4096, n=4096, k=4096), dtype, QUICK))


@pytest.mark.slow
def test_the_large_size_is_right_and_timed(device: CudaDevice) -> None:
    size = GemmSize(m=8192, n=8192, k=8192)
    assert_right_and_timed(device.run(TENSOR_CORE, size, DType.FLOAT16, QUICK))


@pytest.mark.slow
def test_tensor_units_are_ten_times_as_fast_as_naive(device: CudaDevice) -> None:
    size = GemmSize(m=4096, n=4096, k=4096)
    fastest_s = {}
    for kernel in (KERNELS[0], TENSOR_CORE):
        row = device.run(kernel, size, DType.FLOAT16, QUICK)
        assert_right_and_timed(row)
        fastest_s[kernel.variant] = min(row.times[CacheState.HOT].samples_s)
    assert fastest_s["naive"] >= 10 * fastest_s["tensor_core"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        (1025, 1, 2**22),  # the last row of A starts at element 2^32
        (1, 2**22, 1025),  # of B
        (2**17 + 1, 2**15, 1),  # of C
    ],
    ids=("a", "b", "c"),
)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_offsets_past_32_bits(
    device: CudaDevice, kernel: KernelSpec[GemmSize], m: int, n: int, k: int
) -> None:
    size, dtype = GemmSize(m=m, n=n, k=k), DType.BFLOAT16
    free_bytes = device.free_bytes
    if free_bytes is not None and free_bytes < 10 * 2**30:
        pytest.skip("needs 10 GiB of device memory")
    # Ones in the last row of A and of B, so that only the last row of C is not zero.
    a = np.zeros((m, k), dtype=numpy_type(dtype))
    b = np.zeros((k, n), dtype=numpy_type(dtype))
    a[-1], b[-1] = 1.0, 1.0
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        c = execution.run_checked({"a": a, "b": b})["c"]
    assert (c[-1].astype(np.float64) == 1.0).all()
    assert not c[:-1].view(np.uint16).any()


@pytest.mark.parametrize(("kernel", "dtype"), CASES, ids=CASE_NAMES)
def test_nan_and_infinity_stay_in_their_row_and_column(
    device: CudaDevice, kernel: KernelSpec[GemmSize], dtype: DType
) -> None:
    size = GemmSize(m=70, n=77, k=69)  # padded along every extent
    inputs = GEMM.make_inputs(size, dtype, np.random.default_rng(0))
    inputs["a"][1, 68], inputs["a"][69, 0] = np.nan, np.inf
    inputs["b"][68, 76] = -np.inf
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        outputs = execution.run_checked(inputs)
    found = compare(outputs, kernel.expected(inputs, size), GEMM.tolerance(size, dtype))
    assert found.passed, found.failure
    finite = np.isfinite(outputs["c"].astype(np.float64))
    assert finite.sum() == (70 - 2) * (77 - 1)


@pytest.mark.parametrize(("kernel", "dtype"), CASES, ids=CASE_NAMES)
def test_sums_pass_what_float16_holds(
    device: CudaDevice, kernel: KernelSpec[GemmSize], dtype: DType
) -> None:
    with device.execute(device.prepare(kernel, OVERFLOW_SIZE, dtype)) as execution:
        outputs = execution.run_checked(overflowing_inputs(dtype))
    assert (outputs["c"].astype(np.float64) == OVERFLOW_RESULT).all()


def test_a_planted_float16_sum_overflows_there(device: CudaDevice) -> None:
    dtype = DType.FLOAT32
    with device.execute(device.prepare(planted("narrow_sum"), OVERFLOW_SIZE, dtype)) as execution:
        outputs = execution.run_checked(overflowing_inputs(dtype))
    assert not np.isfinite(outputs["c"]).any()


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    row = device.run(planted(fault), SIZE, DType.FLOAT32, QUICK)
    assert_refused(row)
