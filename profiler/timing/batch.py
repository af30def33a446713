"""Batches of marks behind a held queue, so that no host delay lands between two marks."""

from collections.abc import Callable

from rooflens.errors import TimingError
from rooflens.profiler.timing.queue import Mark, Queue

FIRST_HOLD_S = 500e-6
LONGEST_HOLD_S = 0.25


def run_batch(
    queue: Queue, enqueue_one: Callable[[], list[Mark]], count: int, hold_s: float = FIRST_HOLD_S
) -> list[list[Mark]]:
    """Enqueues `count` samples while the device is held; returns the marks of each, all passed.

    If the device was through with the hold before everything was enqueued, the batch proves
    nothing: it is run again with a hold four times as long. Raises TimingError past 0.25 s.
    """
    while True:
        queue.hold(hold_s)
        samples = [enqueue_one() for _ in range(count)]
        ran_dry = queue.reached(samples[0][0])
        queue.finish()
        if not ran_dry:
            return samples
        if hold_s >= LONGEST_HOLD_S:
            raise TimingError(
                f"the host cannot enqueue {count} samples within {LONGEST_HOLD_S} s; "
                "free the CPU and run again"
            )
        hold_s = min(4 * hold_s, LONGEST_HOLD_S)
