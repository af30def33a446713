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
    """An in-order device whose ways of timing add known constants. Each call costs the host call_s.

    A launch between marks starts event_constant_s late. A graph starts graph_start_s late and runs
    its nodes back to back; a spacer adds spacer_s. Between stamps a launch takes first_s longer
    right after an eviction, and following_s longer after another launch. tick_s is the counter's.
    """

    clock: FakeClock
    event_constant_s: float = 2.94e-6
    graph_start_s: float = 3e-6
    spacer_s: float = 1.1e-6
    first_s: float = 1.4e-6
    following_s: float = 1.2e-6
    evict_s: float = 50e-6
    call_s: float = 4e-6
    tick_s: float = 32e-9
    free_s: float = 0.0
    cold: bool = False
    evictions: int = 0
    holds: list[float] = field(default_factory=list)

    def issue(self, seconds: float) -> None:
        self.clock.now_s += self.call_s
        self.free_s = max(self.free_s, self.clock.now_s) + seconds

    def hold(self, seconds: float) -> None:
        self.holds.append(seconds)
        self.issue(seconds)

    def evict(self) -> None:
        self.evictions += 1
        self.cold = True
        self.issue(self.evict_s)

    def mark(self) -> float:
        self.issue(0.0)
        return self.free_s

    def reached(self, mark: float) -> bool:
        return self.clock.now_s >= mark

    def elapsed_s(self, first: float, second: float) -> float:
        assert self.clock.now_s >= max(first, second), "elapsed_s before the device got there"
        return second - first

    def finish(self) -> None:
        self.clock.now_s = max(self.clock.now_s, self.free_s)

    def stamp_tick_s(self) -> float:
        return self.tick_s


class FakeWork:
    """Launches that take `hot_s` each, or `cold_s` where an eviction came before.

    `noise_s` is a cycle of additions, one taken for each launch.
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
        self._queue.issue(self._queue.event_constant_s + times[launch] + next(self._noise))
        if launch == self.launches - 1:
            self._queue.cold = False

    def capture(self, repeats: int, *, spaced: bool) -> Callable[[], None]:
        spacer_s = self._queue.spacer_s if spaced else 0.0

        def launch() -> None:
            nodes = [time_s + spacer_s + next(self._noise) for time_s in self._hot * repeats]
            self._queue.issue(self._queue.graph_start_s + sum(nodes))

        return launch

    def capture_stamped(self, runs: int) -> Callable[[], list[list[float]]]:
        def take() -> list[list[float]]:
            found = []
            for _ in range(runs):
                self._queue.evictions += 1
                constants = [self._queue.first_s] + [self._queue.following_s] * self.launches
                found.append(
                    [
                        time_s + constant_s + next(self._noise)
                        for time_s, constant_s in zip(self._cold, constants, strict=False)
                    ]
                )
                self._queue.issue(self._queue.evict_s + sum(found[-1]))
            self._queue.finish()
            return found

        return take
