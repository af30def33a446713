"""What the ways of timing add to a launch, measured with an empty kernel in this session."""

from rooflens.analysis.statistics import median, percentile, smallest_step
from rooflens.errors import TimingError
from rooflens.profiler.timing.hot import graph_readings
from rooflens.profiler.timing.queue import Queue, Work
from rooflens.profiler.timing.readings import choose_clock, cold_readings
from rooflens.run import Calibration

NODES = 200
GRAPHS = 20
RUNS = 20
BATCHES = 10


def calibrate(
    queue: Queue, empty: Work, empty_pair: Work, *, empty_s: float | None = None
) -> Calibration:
    """Measures each constant as the empty kernel's reading less the empty kernel's own time.

    `empty` is one launch of an empty kernel, `empty_pair` two of them. Its own time is `empty_s`,
    or, where that is not given, its time in a plain graph of many. The gaps between launches grow
    once a process holds megabytes of device memory (on an H200 by 0.2 us in a graph), the empty
    kernel does not: so its time is taken first, in a fresh process, and the constants again for
    each kernel, with its buffers in place.

    Raises TimingError if a reading is not longer than that time: then the device does not behave
    as the method supposes.
    """
    if (empty.launches, empty_pair.launches) != (1, 2):
        raise TimingError(
            "calibration needs one launch and a pair, got "
            f"{empty.launches} and {empty_pair.launches}"
        )
    plain_s = empty_s
    if plain_s is None:
        plain_s = median(graph_readings(queue, empty, NODES, spaced=False)(GRAPHS))
    spaced_s = median(graph_readings(queue, empty, NODES, spaced=True)(GRAPHS))
    clock = choose_clock(queue)
    take = cold_readings(queue, empty_pair, clock)
    take(RUNS)  # warms the code
    runs = [run for _ in range(BATCHES) for run in take(RUNS)]
    first, following = [run[0] for run in runs], [run[1] for run in runs]
    for name, reading_s in (
        ("by a spaced graph", spaced_s),
        (f"cold by {clock}", median(first)),
        (f"cold by {clock} after another launch", median(following)),
    ):
        if not reading_s > plain_s > 0:
            raise TimingError(
                f"an empty kernel reads {reading_s:.3g} s {name} and {plain_s:.3g} s by a plain "
                "graph; the first must be longer, so times cannot be calibrated on this device"
            )
    return Calibration(
        cold_clock=clock,
        empty_graph_s=plain_s,
        hot_constant_s=spaced_s - plain_s,
        cold_first_s=median(first) - plain_s,
        cold_following_s=median(following) - plain_s,
        resolution_s=max(percentile(first, 90) - percentile(first, 10), smallest_step(first)),
        samples=len(runs),
    )
