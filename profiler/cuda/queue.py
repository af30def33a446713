"""The timing queue of a card: one stream, with holding, evicting and stamping kernels."""

from typing import Any

import numpy as np

from rooflens.errors import CudaError
from rooflens.kernels.spec import Array
from rooflens.profiler.compile import CompiledCode
from rooflens.profiler.cuda.gate import checked, core_module, driver_module, translated

EVICT_THREADS = 512
EVICT_BLOCKS_PER_SM = 4
EVICT_L2_MULTIPLE = 3
LEAST_EVICT_BYTES = 64 << 20  # for cards that do not tell their L2
SLOTS = 4096
STAMP_BYTES = 8
COUNTER_READINGS = 2048

Step = tuple[Any, Any, tuple[Any, ...]]
"""One launch as cuda.core takes it: configuration, kernel, packed arguments."""


class CudaQueue:
    """Implements rooflens.profiler.timing.Queue on a stream of the current context."""

    def __init__(
        self, device: Any, stream: Any, support: CompiledCode, l2_bytes: int | None
    ) -> None:
        core, driver = core_module(), driver_module()
        self.device, self.stream = device, stream
        self._core = core
        self._event_options = core.EventOptions(timing_enabled=True)
        with translated("loading the timing kernels"):
            module = core.ObjectCode.from_cubin(support.code)
            self._hold = module.get_kernel("hold")
            self._evict = module.get_kernel("evict")
            self._stamp = module.get_kernel("stamp")
            self._read_counter = module.get_kernel("read_counter")
        size = max(EVICT_L2_MULTIPLE * (l2_bytes or 0), LEAST_EVICT_BYTES)
        self._evict_bytes = size
        self._buffer = int(checked(driver.cuMemAlloc(size), f"cuMemAlloc of {size} bytes"))
        self._slots = int(checked(driver.cuMemAlloc(SLOTS * STAMP_BYTES), "cuMemAlloc of stamps"))
        checked(driver.cuMemsetD8(self._buffer, 0, size), "cuMemsetD8")
        checked(driver.cuCtxSynchronize(), "clearing the evicting buffer")
        blocks = EVICT_BLOCKS_PER_SM * device.properties.multiprocessor_count
        self._one = core.LaunchConfig(grid=1, block=1)
        self._wide = core.LaunchConfig(grid=blocks, block=EVICT_THREADS)

    def hold(self, seconds: float) -> None:
        with translated("hold"):
            self._core.launch(self.stream, self._one, self._hold, np.uint64(round(seconds * 1e9)))

    def evict(self) -> None:
        with translated("evict"):
            self._core.launch(self.stream, *self.evict_step())

    def mark(self) -> Any:
        with translated("cuEventRecord"):
            return self.stream.record(options=self._event_options)

    def reached(self, mark: Any) -> bool:
        with translated("cuEventQuery"):
            return bool(mark.is_done)

    def elapsed_s(self, first: Any, second: Any) -> float:
        with translated("cuEventElapsedTime"):
            return float(second - first) * 1e-3

    def finish(self) -> None:
        with translated("cuStreamSynchronize"):
            self.stream.sync()

    def stamp_tick_s(self) -> float:
        with translated("read_counter"):
            self._core.launch(
                self.stream, self._one, self._read_counter, self._slots, np.uint32(COUNTER_READINGS)
            )
        self.finish()
        steps = np.diff(self.read_stamps(COUNTER_READINGS).astype(np.int64))
        moved = steps[steps > 0]
        return float(moved.min()) * 1e-9 if moved.size else float("inf")

    def evict_step(self) -> tuple[Any, ...]:
        """The eviction as configuration, kernel and arguments. The sink is never written."""
        count = np.uint64(self._evict_bytes // 16)
        return (self._wide, self._evict, self._buffer, count, self._slots)

    def stamp_step(self, slot: int) -> tuple[Any, ...]:
        """A stamp into that slot as configuration, kernel and argument."""
        return (self._one, self._stamp, self._slots + STAMP_BYTES * slot)

    def read_stamps(self, count: int) -> Array:
        """The first `count` stamps, in nanoseconds, uint64 [count]."""
        host = np.empty(count, dtype=np.uint64)
        call = driver_module().cuMemcpyDtoH(host.ctypes.data, self._slots, host.nbytes)
        checked(call, "cuMemcpyDtoH of stamps")
        return host

    def close(self) -> None:
        """Frees the queue's memory; a context that is lost has freed it already."""
        for address in (self._buffer, self._slots):
            try:
                checked(driver_module().cuMemFree(address), "cuMemFree")
            except CudaError:
                return
