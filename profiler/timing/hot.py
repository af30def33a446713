"""Hot-cache time: a graph of many launches, its time divided by their number."""

import math
import time
from collections.abc import Callable

from rooflens.analysis.statistics import smallest_step
from rooflens.measurement import TimeSamples
from rooflens.profiler.timing.batch import run_batch
from rooflens.profiler.timing.policy import TimingPolicy
from rooflens.profiler.timing.queue import Clock, Mark, Queue, Work
from rooflens.run import Calibration

GRAPH_S = 4e-3  # long enough that starting a graph, about 3 us, is under 0.1 % of it
MOST_LAUNCHES = 200
BATCH = 5


def time_hot(
    queue: Queue,
    work: Work,
    calibration: Calibration,
    policy: TimingPolicy,
    *,
    clock: Clock = time.perf_counter,
) -> TimeSamples:
    """Samples of one run of `work` with its data as the run before left it in cache.

    Each sample is one graph's time over the repeats in it, less what the spacers between launches
    take. The start of the graph is not subtracted: it is spread over the repeats. Raises
    TimingError where the queue ran dry.
    """
    started = clock()
    repeats = _repeats(queue, work)
    take = graph_readings(queue, work, repeats, spaced=True)
    constant_s = work.launches * calibration.hot_constant_s
    samples: list[float] = []
    batch, stopped = 1, None
    while stopped is None:
        samples.extend(reading - constant_s for reading in take(batch))
        batch = BATCH
        stopped = policy.stopped_by(samples, clock() - started)
    nodes = repeats * work.launches
    return TimeSamples(
        samples_s=tuple(samples),
        method=f"graph of {nodes} launches and as many one-thread spacers, divided",
        launches_per_sample=repeats,
        correction_s=constant_s,
        resolution_s=smallest_step(samples),
        stopped_by=stopped,
    )


def graph_readings(
    queue: Queue, work: Work, repeats: int, *, spaced: bool
) -> Callable[[int], list[float]]:
    """A function that runs a graph of `repeats` runs so many times; seconds per run, each time."""
    launch_graph = work.capture(repeats, spaced=spaced)
    launch_graph()  # the first launch of a graph uploads it
    queue.finish()

    def sample() -> list[Mark]:
        first = queue.mark()
        launch_graph()
        return [first, queue.mark()]

    def take(count: int) -> list[float]:
        return [queue.elapsed_s(*marks) / repeats for marks in run_batch(queue, sample, count)]

    return take


def _repeats(queue: Queue, work: Work) -> int:
    """How many runs fill a graph of GRAPH_S, from the time of one (which errs long)."""
    once = work.capture(1, spaced=False)
    once()
    queue.finish()
    first = queue.mark()
    once()
    last = queue.mark()
    queue.finish()
    estimate_s = queue.elapsed_s(first, last)
    most = max(1, MOST_LAUNCHES // work.launches)
    if estimate_s <= 0:
        return most
    return max(1, min(most, math.ceil(GRAPH_S / estimate_s)))
