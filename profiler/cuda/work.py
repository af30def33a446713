"""Launches on a card, to be timed one by one or as graphs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rooflens.errors import TimingError
from rooflens.profiler.cuda.gate import core_module, translated
from rooflens.profiler.cuda.queue import SLOTS, CudaQueue, Step
from rooflens.profiler.timing.queue import Intervals


class CudaWork:
    """Implements rooflens.profiler.timing.Work: launches with their arguments packed."""

    def __init__(self, queue: CudaQueue, steps: Sequence[Step]) -> None:
        self._queue, self._steps = queue, tuple(steps)
        self._launch = core_module().launch

    @property
    def launches(self) -> int:
        return len(self._steps)

    def enqueue(self, launch: int) -> None:
        config, kernel, arguments = self._steps[launch]
        with translated("cuLaunchKernelEx"):
            self._launch(self._queue.stream, config, kernel, *arguments)

    def capture(self, repeats: int, *, spaced: bool) -> Callable[[], None]:
        def build(builder: Any) -> None:
            for _ in range(repeats):
                for config, kernel, arguments in self._steps:
                    self._launch(builder, config, kernel, *arguments)
                    if spaced:
                        self._launch(builder, *self._queue.stamp_step(0))

        graph = self._captured(build)

        def enqueue() -> None:
            with translated("cuGraphLaunch"):
                graph.launch(self._queue.stream)

        return enqueue

    def capture_stamped(self, runs: int) -> Callable[[], Intervals]:
        per_run = self.launches + 1
        if runs * per_run > SLOTS:
            raise TimingError(f"{runs} runs of {per_run} stamps do not fit {SLOTS} slots")

        def build(builder: Any) -> None:
            for run in range(runs):
                slot = run * per_run
                self._launch(builder, *self._queue.evict_step())
                self._launch(builder, *self._queue.stamp_step(slot))
                for number, (config, kernel, arguments) in enumerate(self._steps, start=1):
                    self._launch(builder, config, kernel, *arguments)
                    self._launch(builder, *self._queue.stamp_step(slot + number))

        graph = self._captured(build)

        def take() -> Intervals:
            with translated("cuGraphLaunch"):
                graph.launch(self._queue.stream)
            self._queue.finish()
            stamps = self._queue.read_stamps(runs * per_run).astype(np.int64)
            seconds = np.diff(stamps.reshape(runs, per_run), axis=1) * 1e-9
            return [[float(one) for one in run] for run in seconds]

        return take

    def _captured(self, build: Callable[[Any], None]) -> Any:
        with translated("capturing a graph"):
            builder = self._queue.device.create_graph_builder()
            builder.begin_building()
            build(builder)
            return builder.end_building().complete()
