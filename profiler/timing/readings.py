"""Cold clock readings: intervals around each launch of a run that starts with an empty cache."""

from collections.abc import Callable
from itertools import pairwise

from rooflens.errors import TimingError
from rooflens.profiler.timing.batch import run_batch
from rooflens.profiler.timing.queue import Intervals, Mark, Queue, Work
from rooflens.run import ColdClock

COARSEST_TICK_S = 100e-9  # a coarser counter says less than an event


def choose_clock(queue: Queue) -> ColdClock:
    """Stamps where the device's counter ticks finely enough, else events."""
    return ColdClock.STAMPS if queue.stamp_tick_s() <= COARSEST_TICK_S else ColdClock.EVENTS


def cold_readings(queue: Queue, work: Work, clock: ColdClock) -> Callable[[int], Intervals]:
    """A function that takes readings of so many cold runs of `work`.

    A run is an eviction and then the launches, with a reading of the clock before the first and
    after each. Raises TimingError where a clock ran backwards or the queue ran dry.
    """
    take = _stamped(work) if clock is ColdClock.STAMPS else _marked(queue, work)

    def checked(runs: int) -> Intervals:
        found = take(runs)
        if any(interval < 0 for run in found for interval in run):
            raise TimingError("the device's clock ran backwards between two readings")
        return found

    return checked


def _stamped(work: Work) -> Callable[[int], Intervals]:
    graphs: dict[int, Callable[[], Intervals]] = {}

    def take(runs: int) -> Intervals:
        if runs not in graphs:
            graphs[runs] = work.capture_stamped(runs)
        return graphs[runs]()

    return take


def _marked(queue: Queue, work: Work) -> Callable[[int], Intervals]:
    def sample() -> list[Mark]:
        queue.evict()
        marks = [queue.mark()]
        for launch in range(work.launches):
            work.enqueue(launch)
            marks.append(queue.mark())
        return marks

    def take(runs: int) -> Intervals:
        return [
            [queue.elapsed_s(before, after) for before, after in pairwise(marks)]
            for marks in run_batch(queue, sample, runs)
        ]

    return take
