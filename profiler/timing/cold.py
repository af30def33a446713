"""Cold-cache time: clock readings around each launch, less the constants of this session."""

import math
import time

from rooflens.measurement import TimeSamples
from rooflens.profiler.timing.policy import TimingPolicy
from rooflens.profiler.timing.queue import Clock, Queue, Work
from rooflens.profiler.timing.readings import cold_readings
from rooflens.run import Calibration, ColdClock

BATCH_S = 20e-3
LARGEST_BATCH = 20
METHODS = {
    ColdClock.STAMPS: "one-thread stamp kernels around each launch, in a graph",
    ColdClock.EVENTS: "event pair around each launch, behind a held queue",
}


def time_cold(
    queue: Queue,
    work: Work,
    calibration: Calibration,
    policy: TimingPolicy,
    *,
    clock: Clock = time.perf_counter,
) -> TimeSamples:
    """Samples of one run of `work` that finds none of its data in cache.

    The cache is emptied by reads before the first launch of each run; of several launches the
    sample is the sum of their times without the gaps between them. Raises TimingError where the
    readings cannot be trusted.
    """
    started = clock()
    take = cold_readings(queue, work, calibration.cold_clock)
    constant_s = calibration.cold_constant_s(work.launches)

    def samples_of(runs: int) -> list[float]:
        return [sum(run) - constant_s for run in take(runs)]

    samples_of(1)  # warms code and the evicting buffer
    samples = samples_of(1)
    batch = max(1, min(LARGEST_BATCH, math.ceil(BATCH_S / max(samples[0], 1e-6))))
    stopped = policy.stopped_by(samples, clock() - started)
    while stopped is None:
        samples.extend(samples_of(batch))
        stopped = policy.stopped_by(samples, clock() - started)
    return TimeSamples(
        samples_s=tuple(samples),
        method=f"{METHODS[calibration.cold_clock]}, after an eviction by reads",
        launches_per_sample=1,
        correction_s=constant_s,
        resolution_s=math.sqrt(work.launches) * calibration.resolution_s,
        stopped_by=stopped,
    )
