"""On a card: both layer variants at every kind of size, and every planted fault."""

import pytest

from rooflens.kernels.layer import KERNELS, LayerSize
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_layer import SIZE, WRONG_RESULT, planted

SIZES = [
    LayerSize(seq=1, hidden=1, heads=1, kv_heads=1, dim=2),
    LayerSize(seq=2, hidden=3, heads=2, kv_heads=1, dim=64, causal=1),
    LayerSize(seq=33, hidden=65, heads=4, kv_heads=2, dim=80, causal=1),
    LayerSize(seq=131, hidden=96, heads=6, kv_heads=3, dim=66),
    LayerSize(seq=257, hidden=512, heads=2, kv_heads=2, dim=128, causal=1),
    LayerSize(seq=300, hidden=100, heads=2, kv_heads=1, dim=256),
    LayerSize(seq=2048, hidden=256, heads=4, kv_heads=4, dim=64),
    LayerSize(seq=1000, hidden=2048, heads=16, kv_heads=4, dim=128, causal=1),
]
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[LayerSize], size: LayerSize, dtype: DType
) -> None:
    assert_right_and_timed(device.run(kernel, size, dtype, QUICK))


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    assert_refused(device.run(planted(fault), SIZE, DType.FLOAT32, QUICK))
