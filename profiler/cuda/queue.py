"""The timing queue of a card: one stream, with holding and evicting kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rooflens.errors import CudaError
from rooflens.profiler.compile import CompiledCode
from rooflens.profiler.cuda.gate import checked, core_module, driver_module, translated

EVICT_THREADS = 512
EVICT_BLOCKS_PER_SM = 4
EVICT_L2_MULTIPLE = 3
LEAST_EVICT_BYTES = 64 << 20  # for cards that do not tell their L2


class CudaQueue:
    """Implements rooflens.profiler.timing.Queue on a stream of the current context."""

    def __init__(
        self, device: Any, stream: Any, support: CompiledCode, l2_bytes: int | None
    ) -> None:
        core, driver = core_module(), driver_module()
        self._core, self._stream = core, stream
        self._event_options = core.EventOptions(timing_enabled=True)
        with translated("loading the timing kernels"):
            module = core.ObjectCode.from_cubin(support.code)
            self._hold = module.get_kernel("hold")
            self._evict = module.get_kernel("evict")
        size = max(EVICT_L2_MULTIPLE * (l2_bytes or 0), LEAST_EVICT_BYTES)
        self._evict_bytes = size
        self._buffer = int(checked(driver.cuMemAlloc(size), f"cuMemAlloc of {size} bytes"))
        self._sink = int(checked(driver.cuMemAlloc(4), "cuMemAlloc of 4 bytes"))
        checked(driver.cuMemsetD8(self._buffer, 0, size), "cuMemsetD8")
        blocks = EVICT_BLOCKS_PER_SM * device.properties.multiprocessor_count
        self._one = core.LaunchConfig(grid=1, block=1)
        self._wide = core.LaunchConfig(grid=blocks, block=EVICT_THREADS)

    def hold(self, seconds: float) -> None:
        with translated("hold"):
            self._core.launch(self._stream, self._one, self._hold, np.uint64(round(seconds * 1e9)))

    def evict(self) -> None:
        with translated("evict"):
            self._core.launch(
                self._stream,
                self._wide,
                self._evict,
                self._buffer,
                np.uint64(self._evict_bytes // 16),
                self._sink,
            )

    def mark(self) -> Any:
        with translated("cuEventRecord"):
            return self._stream.record(options=self._event_options)

    def reached(self, mark: Any) -> bool:
        with translated("cuEventQuery"):
            return bool(mark.is_done)

    def elapsed_s(self, first: Any, second: Any) -> float:
        with translated("cuEventElapsedTime"):
            return float(second - first) * 1e-3

    def finish(self) -> None:
        with translated("cuStreamSynchronize"):
            self._stream.sync()

    def close(self) -> None:
        """Frees the evicting buffer; a context that is lost has freed it already."""
        for address in (self._buffer, self._sink):
            try:
                checked(driver_module().cuMemFree(address), "cuMemFree")
            except CudaError:
                return


class CudaWork:
    """Implements rooflens.profiler.timing.Work: launches with their arguments packed."""

    def __init__(
        self, device: Any, stream: Any, steps: list[tuple[Any, Any, tuple[Any, ...]]]
    ) -> None:
        self._device, self._stream, self._steps = device, stream, steps
        self._launch = core_module().launch

    @property
    def launches(self) -> int:
        return len(self._steps)

    def enqueue(self, launch: int) -> None:
        config, kernel, arguments = self._steps[launch]
        with translated("cuLaunchKernelEx"):
            self._launch(self._stream, config, kernel, *arguments)

    def capture(self, repeats: int) -> Callable[[], None]:
        with translated("capturing a graph"):
            builder = self._device.create_graph_builder()
            builder.begin_building()
            for _ in range(repeats):
                for config, kernel, arguments in self._steps:
                    self._launch(builder, config, kernel, *arguments)
            graph = builder.end_building().complete()

        def enqueue() -> None:
            with translated("cuGraphLaunch"):
                graph.launch(self._stream)

        return enqueue
