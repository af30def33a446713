"""On a card: every kv_cache variant at every kind of size, growing caches, every planted fault."""

import numpy as np
import pytest

from rooflens.kernels.kv_cache import KERNELS, KV_CACHE, KvCacheSize
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_kv_cache import SIZE, WRONG_RESULT, planted


def sized(*numbers: int) -> KvCacheSize:
    batch, heads, kv_heads, length, new_tokens, max_seq, dim = numbers
    return KvCacheSize(
        batch=batch,
        heads=heads,
        kv_heads=kv_heads,
        length=length,
        new_tokens=new_tokens,
        max_seq=max_seq,
        dim=dim,
    )


SIZES = [
    sized(1, 1, 1, 1, 1, 2, 1),
    sized(1, 2, 1, 15, 1, 16, 64),
    sized(3, 6, 2, 16, 5, 31, 7),
    sized(2, 32, 8, 1000, 1, 1024, 128),
    sized(5, 4, 4, 77, 100, 4096, 80),
    sized(1, 32, 32, 2047, 1, 4096, 128),
    sized(1, 8, 1, 30_000, 17, 32_768, 256),
]
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[KvCacheSize], size: KvCacheSize, dtype: DType
) -> None:
    assert_right_and_timed(device.run(kernel, size, dtype, QUICK))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_a_cache_that_grows_step_by_step_holds_every_token(
    device: CudaDevice, kernel: KernelSpec[KvCacheSize]
) -> None:
    rng = np.random.default_rng(3)
    size = sized(2, 4, 2, 5, 1, 40, 6)
    inputs = KV_CACHE.make_inputs(size, DType.FLOAT32, rng)
    for length in range(5, 39):
        size = sized(2, 4, 2, length, 1, 40, 6)
        for name in ("k_new", "v_new"):
            inputs[name] = rng.standard_normal(inputs[name].shape, dtype=np.float32)
        with device.execute(device.prepare(kernel, size, DType.FLOAT32)) as execution:
            outputs = execution.run_checked(inputs)
        found = compare(
            outputs, kernel.expected(inputs, size), KV_CACHE.tolerance(size, DType.FLOAT32)
        )
        assert found.passed, found.failure
        after = KV_CACHE.reference(inputs, size)  # which the paged reference starts from
        inputs |= {name: after[name] for name in ("k_cache", "v_cache")}
        inputs |= {name: array for name, array in outputs.items() if name in inputs}


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    assert_refused(device.run(planted(fault), SIZE, DType.FLOAT32, QUICK))
