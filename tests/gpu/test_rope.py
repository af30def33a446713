"""On a card: every rope variant at every kind of size, and every planted fault."""

import numpy as np
import pytest

from rooflens.errors import NotSupportedError
from rooflens.kernels.rope import KERNELS, ROPE, RopeSize
from rooflens.kernels.spec import KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_rope import SIZE, WRONG_RESULT, planted

SIZES = [
    (1, 1, 2),
    (1, 1, 64),
    (7, 3, 66),
    (5, 9, 80),
    (33, 5, 130),
    (300, 2, 132),
    (17, 8, 256),
    (2048, 32, 128),
    (131_072, 1, 64),  # angles that sincosf reduces the long way
    (70_000, 3, 6),
]
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[RopeSize], size: tuple[int, int, int], dtype: DType
) -> None:
    seq, heads, dim = size
    row = device.run(kernel, RopeSize(seq=seq, heads=heads, dim=dim), dtype, QUICK)
    assert_right_and_timed(row)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_infinities_and_nan_are_as_defined(
    device: CudaDevice, kernel: KernelSpec[RopeSize], dtype: DType
) -> None:
    size = RopeSize(seq=3, heads=2, dim=64)
    inputs = ROPE.make_inputs(size, dtype, np.random.default_rng(0))
    x = inputs["x"].astype(np.float64)
    x[:, 0, :3] = (np.inf, 1.0, np.nan)
    x[:, 1, 32] = -np.inf
    inputs["x"] = x.astype(numpy_type(dtype))
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        outputs = execution.run_checked(inputs)
    found = compare(outputs, kernel.expected(inputs, size), kernel.allowed(size, dtype))
    assert found.passed, found.failure


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_offsets_past_32_bits(device: CudaDevice, kernel: KernelSpec[RopeSize]) -> None:
    size, dtype = RopeSize(seq=8193, heads=8192, dim=64), DType.FLOAT16
    free_bytes = device.free_bytes
    if free_bytes is not None and free_bytes < 20 * 2**30:
        pytest.skip("needs 20 GiB of device memory")
    # Zeros but for the last position, which starts at element 2^32.
    table = ROPE.make_inputs(RopeSize(seq=8193, heads=1, dim=64), dtype, np.random.default_rng(0))
    x = np.zeros((8193, 8192, 64), dtype=numpy_type(dtype))
    x[-1] = 1.0
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        y = execution.run_checked(table | {"x": x})["y"]
    assert not y[:-1].any()
    one_head = {"x": np.ascontiguousarray(x[:, :1])}
    truth = kernel.expected(one_head, RopeSize(seq=8193, heads=1, dim=64))["y"][-1]
    last = {"y": y[-1]}, {"y": np.broadcast_to(truth, (8192, 64))}
    found = compare(*last, kernel.allowed(size, dtype))
    assert found.passed, found.failure


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_the_other_layouts_reference_refuses_it(
    device: CudaDevice, kernel: KernelSpec[RopeSize]
) -> None:
    inputs = ROPE.make_inputs(SIZE, DType.FLOAT32, np.random.default_rng(0))
    with device.execute(device.prepare(kernel, SIZE, DType.FLOAT32)) as execution:
        outputs = execution.run_checked(inputs)
    tolerance = kernel.allowed(SIZE, DType.FLOAT32)
    references = {one.expected: one.expected(inputs, SIZE) for one in KERNELS}
    assert len(references) == 2
    for reference, truth in references.items():
        assert compare(outputs, truth, tolerance).passed == (reference is kernel.expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_an_odd_head_is_refused(device: CudaDevice, kernel: KernelSpec[RopeSize]) -> None:
    with pytest.raises(NotSupportedError, match="dim must be even"):
        device.run(kernel, RopeSize(seq=2, heads=1, dim=5), DType.FLOAT32, QUICK)


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    row = device.run(planted(fault), SIZE, DType.FLOAT32, QUICK)
    assert_refused(row)
