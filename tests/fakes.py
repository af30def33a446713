"""A device queue and a host clock in simulated time, so that timing can be tested exactly."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle


@dataclass
class FakeClock:
    """Host seconds; advanced by whoever takes time."""

    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class FakeQueue:
    """An in-order device. A launch outside a graph starts `event_constant_s` late; a graph starts
    `graph_start_s` late and then runs its nodes back to back. Each call costs the host `call_s`.
    """

    clock: FakeClock
    event_constant_s: float
    graph_start_s: float
    evict_s: float
    call_s: float
    free_s: float = 0.0
    cold: bool = False
    evictions: int = 0
    holds: list[float] = field(default_factory=list)

    def _issue(self, seconds: float) -> None:
        self.clock.now_s += self.call_s
        self.free_s = max(self.free_s, self.clock.now_s) + seconds

    def hold(self, seconds: float) -> None:
        self.holds.append(seconds)
        self._issue(seconds)

    def evict(self) -> None:
        self.evictions += 1
        self.cold = True
        self._issue(self.evict_s)

    def mark(self) -> float:
        self._issue(0.0)
        return self.free_s

    def reached(self, mark: float) -> bool:
        return self.clock.now_s >= mark

    def elapsed_s(self, first: float, second: float) -> float:
        assert self.clock.now_s >= max(first, second), "elapsed_s before the device got there"
        return second - first

    def finish(self) -> None:
        self.clock.now_s = max(self.clock.now_s, self.free_s)

    def launch(self, seconds: float) -> None:
        self._issue(self.event_constant_s + seconds)

    def launch_graph(self, seconds: float) -> None:
        self._issue(self.graph_start_s + seconds)


class FakeWork:
    """Launches that take `hot_s` each, or `cold_s` where an eviction came before.

    `noise_s` is a cycle of additions, one taken for each run outside a graph or each graph node.
    """

    def __init__(
        self,
        queue: FakeQueue,
        hot_s: tuple[float, ...],
        cold_s: tuple[float, ...] | None = None,
        noise_s: tuple[float, ...] = (0.0,),
    ) -> None:
        self._queue, self._hot, self._cold = queue, hot_s, cold_s or hot_s
        self._noise = cycle(noise_s)

    @property
    def launches(self) -> int:
        return len(self._hot)

    def enqueue(self, launch: int) -> None:
        times = self._cold if self._queue.cold else self._hot
        self._queue.launch(times[launch] + next(self._noise))
        if launch == self.launches - 1:
            self._queue.cold = False

    def capture(self, repeats: int) -> Callable[[], None]:
        def launch() -> None:
            noise = sum(next(self._noise) for _ in range(repeats))
            self._queue.launch_graph(repeats * sum(self._hot) + noise)

        return launch
