"""On a card: every variant at every kind of size, and every planted fault."""

import subprocess
import sys

import numpy as np
import pytest

from rooflens.kernels.softmax import KERNELS, SOFTMAX, SoftmaxSize
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted import OUT_OF_BOUNDS, WRONG_RESULT, planted

SIZES = [
    (1, 1),
    (1, 2),
    (3, 1023),
    (5, 31),
    (128, 4096),
    (4096, 1025),
    (70_000, 7),
    (2, 70_000),
    (1, 1_048_577),
]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[SoftmaxSize], size: tuple[int, int]
) -> None:
    rows, cols = size
    row = device.run(kernel, SoftmaxSize(rows=rows, cols=cols), DType.FLOAT32, QUICK)
    assert_right_and_timed(row)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_nan_and_infinity_are_as_defined(
    device: CudaDevice, kernel: KernelSpec[SoftmaxSize]
) -> None:
    size = SoftmaxSize(rows=6, cols=515)
    x = np.random.default_rng(0).standard_normal((6, 515), dtype=np.float32)
    x[0, 7] = np.nan
    x[1, 9] = np.inf
    x[2] = -np.inf
    x[3] = -np.inf
    x[3, 500] = 2.0
    x[4] = -np.inf
    x[4, 3] = np.nan
    prepared = device.prepare(kernel, size, DType.FLOAT32)
    with device.execute(prepared) as execution:
        outputs = execution.run_checked({"x": x})
    truth = SOFTMAX.reference({"x": x}, size)
    found = compare(outputs, truth, SOFTMAX.tolerance(size, DType.FLOAT32))
    assert found.passed, found.failure


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SoftmaxSize(rows=9, cols=1023), DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    # A right run first, so that a right result lies about in memory.
    size = SoftmaxSize(rows=9, cols=1023)
    device.run(planted("right"), size, DType.FLOAT32, QUICK)
    row = device.run(planted(fault), size, DType.FLOAT32, QUICK)
    assert_refused(row)


@pytest.mark.parametrize("fault", OUT_OF_BOUNDS)
def test_touching_what_is_not_its_own_is_refused(device: CudaDevice, fault: str) -> None:
    row = device.run(planted(fault), SoftmaxSize(rows=9, cols=1023), DType.FLOAT32, QUICK)
    assert row.status is Status.FAILED
    assert row.reason is not None
    assert OUT_OF_BOUNDS[fault] in row.reason
    assert not row.times


CRASH = """
import sys
sys.path[:0] = {path!r}
from tests.planted import planted
from rooflens.kernels.softmax import KERNELS, SoftmaxSize
from rooflens.precision import DType
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.device import RunOptions
from rooflens.profiler.session import Job, run_jobs
from rooflens.kernels.softmax import SoftmaxSize
size = SoftmaxSize(rows=9, cols=1023)
kernels = (planted("illegal_address"), KERNELS[0])
jobs = [Job(kernel=one, size=size, dtype=DType.FLOAT32) for one in kernels]
device = CudaDevice(0, cache=CompileCache.default())
for row in run_jobs(jobs, device, RunOptions()):
    print(row.status, row.reason)
device.close()
"""


def test_a_crash_loses_no_row_and_the_process_ends_well() -> None:
    code = CRASH.format(path=[str(entry) for entry in sys.path if entry])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("failed")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in first
    assert second.startswith("skipped the CUDA context was lost to softmax.planted_illegal_address")


LEAVE = """
import sys
sys.path[:0] = {path!r}
from rooflens.kernels.softmax import KERNELS, SoftmaxSize
from rooflens.precision import DType
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice
device = CudaDevice(0, cache=CompileCache.default())
prepared = device.prepare(KERNELS[0], SoftmaxSize(rows=9, cols=1023), DType.FLOAT32)
execution = device.execute(prepared).__enter__()
execution.work().enqueue(0)
graph = execution.work().capture(3, spaced=True)
print("left")
"""


def test_leaving_without_clean_up_does_not_crash() -> None:
    code = LEAVE.format(path=[str(entry) for entry in sys.path if entry])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "left", "")


def test_pytorch_in_the_same_process_lives_on() -> None:
    torch = pytest.importorskip("torch")
    before = torch.arange(10, device="cuda").sum().item()
    card = CudaDevice(0, cache=CompileCache.default())
    row = card.run(KERNELS[2], SoftmaxSize(rows=9, cols=1023), DType.FLOAT32, QUICK)
    card.close()
    assert row.status is Status.OK
    after = torch.arange(10, device="cuda").sum().item()
    assert before == after == 45


def test_a_size_over_the_cards_memory_is_refused_before_allocation(device: CudaDevice) -> None:
    from rooflens.errors import DoesNotFitError

    free = device.free_bytes
    with pytest.raises(DoesNotFitError, match="bytes\\) of device memory"):
        device.run(KERNELS[0], SoftmaxSize(rows=1 << 20, cols=1 << 20), DType.FLOAT32, QUICK)
    assert device.free_bytes == free
