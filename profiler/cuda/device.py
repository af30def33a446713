"""A card that runs, checks and times kernels."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rooflens.analysis.hardware import describe_card
from rooflens.errors import CudaError, NotAvailableError, VerificationError
from rooflens.hardware import HardwareSpec
from rooflens.kernels.spec import AnyKernelSpec, Size
from rooflens.measurement import Measurement
from rooflens.precision import DType
from rooflens.profiler.compile import Architecture, CompileCache, compile_source, nvrtc_version
from rooflens.profiler.cuda.enumerate import read_attributes
from rooflens.profiler.cuda.execution import Execution
from rooflens.profiler.cuda.gate import checked, core_module, driver_module, translated
from rooflens.profiler.cuda.queue import CudaQueue
from rooflens.profiler.cuda.work import CudaWork
from rooflens.profiler.device import RunOptions
from rooflens.profiler.prepare import Prepared, prepare
from rooflens.profiler.problems import Problems
from rooflens.profiler.revision import package_version
from rooflens.profiler.timing import calibrate, time_cold, time_hot
from rooflens.profiler.verify import compare
from rooflens.run import Calibration
from rooflens.terms import Basis, CacheState, Status

WARP_THREADS = 32
SUPPORT_SOURCE = Path(__file__).resolve().parent / "support.cu"


class CudaDevice:
    """One card, by its number. Retains the primary context, which other libraries share."""

    def __init__(self, ordinal: int, *, cache: CompileCache | None) -> None:
        """Opens the card.

        Raises NotAvailableError without such a card, CudaError if the driver refuses.
        """
        attributes = read_attributes(ordinal)
        self._hardware = describe_card(attributes)
        self._cache = cache
        self._lost: str | None = None
        self._problems = Problems()
        core = core_module()
        with translated(f"opening device {ordinal}"):
            self._device: Any = core.Device(ordinal)
            self._device.set_current()
            self._stream: Any = self._device.create_stream()
        major, minor = self._hardware.compute_capability
        support = compile_source(
            SUPPORT_SOURCE, architecture=Architecture(major=major, minor=minor), cache=cache
        )
        self._queue = CudaQueue(self._device, self._stream, support, attributes.l2_bytes)
        with translated("loading the empty kernel"):
            empty = core.ObjectCode.from_cubin(support.code).get_kernel("empty_kernel")
        self._empty = (core.LaunchConfig(grid=1, block=WARP_THREADS), empty, ())
        self._calibration: Calibration | None = None

    def calibrate(self, *, empty_s: float | None = None) -> Calibration:
        """Measures the constants of timing as they are now; see rooflens.profiler.timing."""
        single = CudaWork(self._queue, [self._empty])
        pair = CudaWork(self._queue, [self._empty, self._empty])
        return calibrate(self._queue, single, pair, empty_s=empty_s)

    @property
    def kind(self) -> str:
        return "cuda"

    @property
    def hardware(self) -> HardwareSpec:
        return self._hardware

    @property
    def calibration(self) -> Calibration:
        """The constants of timing, measured when they are first asked for.

        Raises TimingError if times make no sense.
        """
        if self._calibration is None:
            self._calibration = self.calibrate()
        return self._calibration

    @property
    def queue(self) -> CudaQueue:
        """The timing queue, for benchmarks that compare methods."""
        return self._queue

    @property
    def free_bytes(self) -> int | None:
        self._device.set_current()
        free, _ = checked(driver_module().cuMemGetInfo(), "cuMemGetInfo")
        return int(free)

    def versions(self) -> Mapping[str, str | None]:
        number = int(checked(driver_module().cuDriverGetVersion(), "cuDriverGetVersion"))
        return {
            "driver_version": _kernel_driver_version(),
            "driver_cuda_version": f"{number // 1000}.{number % 1000 // 10}",
            "nvrtc_version": ".".join(map(str, nvrtc_version())),
            "cuda_bindings_version": package_version("cuda-bindings"),
            "cuda_core_version": package_version("cuda-core"),
        }

    def run(
        self, kernel: AnyKernelSpec, size: Size, dtype: DType, options: RunOptions
    ) -> Measurement:
        """Compiles, runs once and checks, then times; a wrong or crashing kernel is not timed."""
        if self._lost is not None:
            raise NotAvailableError(
                f"the CUDA context was lost to {self._lost}",
                "run the remaining kernels in a new process",
            )
        with translated("making the device current"):
            self._device.set_current()
        prepared = self.prepare(kernel, size, dtype)
        try:
            with Execution(self._queue, prepared) as execution:
                return self._measure(prepared, execution, options)
        except CudaError as error:
            if not self._alive():
                self._lost = f"{kernel.name} at {size} ({error})"
            return prepared.record(status=Status.FAILED, basis=Basis.MODELLED, reason=str(error))

    def prepare(self, kernel: AnyKernelSpec, size: Size, dtype: DType) -> Prepared:
        """Plans and compiles for this card; see rooflens.profiler.prepare."""
        return prepare(
            kernel,
            size,
            dtype,
            limits=self._hardware.limits,
            memory_bytes=self.free_bytes,
            cache=self._cache,
        )

    def execute(self, prepared: Prepared, *, guarded: bool = True) -> Execution:
        """Buffers and loaded code of a prepared kernel, as a context manager."""
        return Execution(self._queue, prepared, guarded=guarded)

    def close(self) -> None:
        """Frees the evicting buffer. The primary context stays with whoever else uses it."""
        self._queue.close()

    def _measure(
        self, prepared: Prepared, execution: Execution, options: RunOptions
    ) -> Measurement:
        kernel, size, dtype = prepared.kernel, prepared.size, prepared.dtype
        inputs, references = self._problems.draw(kernel, size, dtype, options.seed)
        try:
            outputs = execution.run_checked(inputs)
        except VerificationError as error:
            return prepared.record(status=Status.FAILED, basis=Basis.MEASURED, reason=str(error))
        verification = compare(outputs, references, kernel.allowed(size, dtype))
        if not verification.passed:
            row = prepared.record(
                status=Status.FAILED, basis=Basis.MEASURED, reason=verification.failure
            )
            return dataclasses.replace(row, verification=verification)
        work, times = execution.work(), {}
        calibration = self.calibrate(empty_s=self.calibration.empty_graph_s)
        if CacheState.HOT in options.cache_states:
            times[CacheState.HOT] = time_hot(self._queue, work, calibration, options.timing)
        if CacheState.COLD in options.cache_states:
            times[CacheState.COLD] = time_cold(self._queue, work, calibration, options.timing)
        row = prepared.record(status=Status.OK, basis=Basis.MEASURED)
        return dataclasses.replace(row, verification=verification, times=times)

    def _alive(self) -> bool:
        return int(driver_module().cuCtxSynchronize()[0]) == 0


def _kernel_driver_version() -> str | None:
    """The driver's own version, as Linux shows it; None elsewhere."""
    try:
        first = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        return None
    words = first.split()
    return next((word for word in words if word[:1].isdigit() and "." in word), None)
