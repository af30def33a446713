"""Cold-cache time: an event pair around each launch, less the event constant of this session."""

import math
import time
from itertools import pairwise

from rooflens.measurement import TimeSamples
from rooflens.profiler.timing.batch import run_batch
from rooflens.profiler.timing.policy import TimingPolicy
from rooflens.profiler.timing.queue import Clock, Mark, Queue, Work
from rooflens.run import Calibration

BATCH_S = 20e-3
LARGEST_BATCH = 20
METHOD = "event pair per launch after an eviction by reads, behind a held queue, less {constant}"


def time_cold(
    queue: Queue,
    work: Work,
    calibration: Calibration,
    policy: TimingPolicy,
    *,
    clock: Clock = time.perf_counter,
) -> TimeSamples:
    """Samples of one run of `work` that finds none of its data in cache.

    The cache is emptied before the first launch of each run; of several launches, each has marks of
    its own and the sample is the sum of their times without the gaps between them. Raises
    TimingError where the queue ran dry.
    """
    started = clock()

    def sample() -> list[Mark]:
        queue.evict()
        marks = [queue.mark()]
        for launch in range(work.launches):
            work.enqueue(launch)
            marks.append(queue.mark())
        return marks

    def seconds(marks: list[Mark]) -> float:
        raw = sum(queue.elapsed_s(a, b) for a, b in pairwise(marks))
        return raw - work.launches * calibration.event_constant_s

    run_batch(queue, sample, 1)  # warms code and the evicting buffer
    samples = [seconds(marks) for marks in run_batch(queue, sample, 1)]
    stopped = policy.stopped_by(samples, clock() - started)
    batch = max(1, min(LARGEST_BATCH, math.ceil(BATCH_S / max(samples[0], 1e-6))))
    while stopped is None:
        samples.extend(seconds(marks) for marks in run_batch(queue, sample, batch))
        stopped = policy.stopped_by(samples, clock() - started)
    return TimeSamples(
        samples_s=tuple(samples),
        method=METHOD.format(constant=f"{calibration.event_constant_s * 1e6:.3f} us per launch"),
        launches_per_sample=1,
        correction_s=work.launches * calibration.event_constant_s,
        resolution_s=math.sqrt(work.launches) * calibration.resolution_s,
        stopped_by=stopped,
    )
