"""On a card: every attention variant at every kind of size, and every planted fault."""

import numpy as np
import pytest

from rooflens.errors import NotSupportedError
from rooflens.kernels.attention import ATTENTION, KERNELS, AttentionSize
from rooflens.kernels.spec import Array, KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_attention import REFUSED, SIZES, planted

SHAPES = [  # heads, kv_heads, seq, dim, causal
    (1, 1, 1, 64, 0),
    (2, 1, 2, 64, 1),
    (4, 2, 33, 80, 1),
    (6, 2, 131, 96, 0),
    (2, 2, 257, 128, 1),
    (2, 1, 300, 256, 0),
    (3, 1, 65, 7, 1),
    (1, 1, 77, 1, 0),
    (1, 1, 100, 127, 0),
    (4, 4, 2048, 64, 0),
]
NOT_ON_TENSOR_CORES = {  # widths of SHAPES, and why
    256: "dim is at most 128 here, got 256",
    7: "dim 7 is no multiple",
    1: "dim 1 is no multiple",
    127: "dim 127 is no multiple",
}
CASES = [(kernel, dtype) for kernel in KERNELS for dtype in kernel.dtypes]
CASE_NAMES = [f"{kernel.name}-{dtype}" for kernel, dtype in CASES]
(FLASH_V3,) = (kernel for kernel in KERNELS if kernel.variant == "flash_v3")
FLAGS = (0, 1)


def size_of(shape: tuple[int, int, int, int, int]) -> AttentionSize:
    heads, kv_heads, seq, dim, causal = shape
    return AttentionSize(heads=heads, kv_heads=kv_heads, seq=seq, dim=dim, causal=causal)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("kernel", "dtype"), CASES, ids=CASE_NAMES)
def test_variant_is_right_and_timed(
    device: CudaDevice,
    kernel: KernelSpec[AttentionSize],
    dtype: DType,
    shape: tuple[int, int, int, int, int],
) -> None:
    size = size_of(shape)
    if kernel.variant == "flash_tensor_core" and size.dim in NOT_ON_TENSOR_CORES:
        with pytest.raises(NotSupportedError, match=NOT_ON_TENSOR_CORES[size.dim]) as caught:
            device.run(kernel, size, dtype, QUICK)
        pytest.skip(str(caught.value))
    assert_right_and_timed(device.run(kernel, size, dtype, QUICK))


def equal_scores(size: AttentionSize) -> tuple[Array, Array]:
    """Queries and keys of ones: every visible key weighs the same."""
    wide = np.ones((size.heads, size.seq, size.dim))
    return wide, np.ones((size.kv_heads, size.seq, size.dim))


def dominant_key(size: AttentionSize, key: int) -> tuple[Array, Array]:
    """Scores of 0, and of 110 for one key."""
    length = (110.0 / (size.dim * size.scale)) ** 0.5
    queries = np.full((size.heads, size.seq, size.dim), length)
    keys = np.zeros((size.kv_heads, size.seq, size.dim))
    keys[:, key] = length
    return queries, keys


def run_with(
    device: CudaDevice, size: AttentionSize, dtype: DType, q: Array, k: Array
) -> tuple[Array, Array]:
    """Outputs of flash_v3 in float64, found right, and the values as stored."""
    stored = numpy_type(dtype)
    inputs = ATTENTION.make_inputs(size, dtype, np.random.default_rng(0))
    inputs |= {"q": q.astype(stored), "k": k.astype(stored)}
    with device.execute(device.prepare(FLASH_V3, size, dtype)) as execution:
        outputs = execution.run_checked(inputs)
    truth = ATTENTION.reference(inputs, size)
    found = compare(outputs, truth, FLASH_V3.allowed(size, dtype))
    assert found.passed, found.failure
    values = np.repeat(inputs["v"].astype(np.float64), size.group, axis=0)
    return outputs["out"].astype(np.float64), values


@pytest.mark.parametrize("causal", FLAGS)
@pytest.mark.parametrize("dim", [40, 100, 200])  # one thread a row, two, four
@pytest.mark.parametrize("dtype", FLASH_V3.dtypes)
def test_equal_scores_give_the_mean_of_values(
    device: CudaDevice, dtype: DType, dim: int, causal: int
) -> None:
    size = AttentionSize(heads=4, kv_heads=2, seq=139, dim=dim, causal=causal)
    out, values = run_with(device, size, dtype, *equal_scores(size))
    means = values.mean(axis=1, keepdims=True)
    if causal:
        means = values.cumsum(axis=1) / np.arange(1, size.seq + 1)[:, None]
    limit = FLASH_V3.allowed(size, dtype)
    assert (np.abs(out - means) <= limit.absolute + limit.relative * np.abs(means)).all()


@pytest.mark.parametrize("causal", FLAGS)
@pytest.mark.parametrize("key", [0, 13, 138])  # no maximum grows after it, or it grows late
@pytest.mark.parametrize("dim", [40, 100, 200])
@pytest.mark.parametrize("dtype", FLASH_V3.dtypes)
def test_a_dominant_key_gives_its_values(
    device: CudaDevice, dtype: DType, dim: int, key: int, causal: int
) -> None:
    size = AttentionSize(heads=4, kv_heads=2, seq=139, dim=dim, causal=causal)
    out, values = run_with(device, size, dtype, *dominant_key(size, key))
    see_it = out[:, key:] if causal else out
    # All other weights together are below 139 exp(-109), so that nothing but that key is left.
    np.testing.assert_array_equal(see_it, np.broadcast_to(values[:, key, None], see_it.shape))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_control_among_the_planted_passes(device: CudaDevice, size: AttentionSize) -> None:
    row = device.run(planted("right"), size, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize(("fault", "size"), REFUSED, ids=str)
def test_a_planted_fault_is_refused_and_not_timed(
    device: CudaDevice, fault: str, size: AttentionSize
) -> None:
    device.run(planted("right"), size, DType.FLOAT32, QUICK)  # leaves a right result about
    row = device.run(planted(fault), size, DType.FLOAT32, QUICK)
    assert_refused(row)
