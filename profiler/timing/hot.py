"""Hot-cache time: a graph of many launches, its time divided by their number."""

import math
import time
from itertools import pairwise

from rooflens.measurement import TimeSamples
from rooflens.profiler.timing.batch import run_batch
from rooflens.profiler.timing.policy import TimingPolicy
from rooflens.profiler.timing.queue import Clock, Mark, Queue, Work

GRAPH_S = 4e-3  # long enough that starting a graph, about 3 us, is under 0.1 % of it
MOST_NODES = 200
METHOD = "graph of {nodes} kernel nodes between two events behind a held queue, divided"


def time_hot(
    queue: Queue, work: Work, policy: TimingPolicy, *, clock: Clock = time.perf_counter
) -> TimeSamples:
    """Samples of one run of `work` with its data as the run before left it in cache.

    Each sample is one graph's time over the repeats in it. Start overhead of the graph is not
    subtracted: it is spread over the repeats. Raises TimingError where the queue ran dry.
    """
    started = clock()
    repeats = _repeats(queue, work)
    launch_graph = work.capture(repeats)
    launch_graph()  # the first launch of a graph uploads it
    queue.finish()

    def sample() -> list[Mark]:
        first = queue.mark()
        launch_graph()
        return [first, queue.mark()]

    samples: list[float] = []
    resolution_s = _tick([])
    stopped = None
    batch = 1
    while stopped is None:
        for first, last in run_batch(queue, sample, batch):
            samples.append(queue.elapsed_s(first, last) / repeats)
        batch = min(5, policy.max_samples)
        resolution_s = _tick(samples)
        stopped = policy.stopped_by(samples, clock() - started)
    return TimeSamples(
        samples_s=tuple(samples),
        method=METHOD.format(nodes=repeats * work.launches),
        launches_per_sample=repeats,
        correction_s=0.0,
        resolution_s=resolution_s,
        stopped_by=stopped,
    )


def _repeats(queue: Queue, work: Work) -> int:
    """How many runs fill a graph of GRAPH_S, from the time of one (which errs long)."""
    once = work.capture(1)
    once()
    queue.finish()
    first = queue.mark()
    once()
    last = queue.mark()
    queue.finish()
    estimate_s = queue.elapsed_s(first, last)
    most = max(1, MOST_NODES // work.launches)
    if estimate_s <= 0:
        return most
    return max(1, min(most, math.ceil(GRAPH_S / estimate_s)))


def _tick(samples_s: list[float]) -> float:
    """Smallest step seen between two different samples; 0 while there is none."""
    ordered = sorted(set(samples_s))
    steps = [b - a for a, b in pairwise(ordered)]
    return min(steps, default=0.0)
