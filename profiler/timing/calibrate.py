"""The event constant: what an event pair adds to the time of the launch between its events."""

from itertools import pairwise

from rooflens.analysis.statistics import median, percentile
from rooflens.errors import TimingError
from rooflens.profiler.timing.batch import run_batch
from rooflens.profiler.timing.queue import Mark, Queue, Work
from rooflens.run import Calibration

NODES = 200
SAMPLES = 200
BATCH = 20


def calibrate(queue: Queue, empty: Work) -> Calibration:
    """Measures the constant with an empty kernel: by event pair less by graph, as medians.

    The pairs are taken as cold times are, each after an eviction, so that the same is subtracted as
    was added. Raises TimingError if the pair does not read longer than the graph: then the device
    does not behave as the method supposes.
    """
    if empty.launches != 1:
        raise TimingError(f"calibration needs a single launch, got {empty.launches}")

    def pair() -> list[Mark]:
        queue.evict()
        first = queue.mark()
        empty.enqueue(0)
        return [first, queue.mark()]

    launch_graph = empty.capture(NODES)

    def graph() -> list[Mark]:
        first = queue.mark()
        launch_graph()
        return [first, queue.mark()]

    run_batch(queue, pair, BATCH)
    run_batch(queue, graph, 1)
    pairs = [
        queue.elapsed_s(*marks)
        for _ in range(SAMPLES // BATCH)
        for marks in run_batch(queue, pair, BATCH)
    ]
    graphs = [
        queue.elapsed_s(*marks) / NODES
        for _ in range(BATCH)
        for marks in run_batch(queue, graph, 1)
    ]
    pair_s, graph_s = median(pairs), median(graphs)
    if not pair_s > graph_s > 0:
        raise TimingError(
            f"an empty kernel reads {pair_s:.3g} s by event pair and {graph_s:.3g} s by graph; "
            "the pair must read longer, so cold times cannot be calibrated on this device"
        )
    ordered = sorted(set(pairs))
    tick_s = min((b - a for a, b in pairwise(ordered)), default=0.0)
    return Calibration(
        event_constant_s=pair_s - graph_s,
        empty_event_pair_s=pair_s,
        empty_graph_s=graph_s,
        resolution_s=max(percentile(pairs, 90) - percentile(pairs, 10), tick_s),
        samples=len(pairs),
    )
