"""What timing needs of a device: an in-order queue, marks on it, and work to put between them."""

from collections.abc import Callable
from typing import Any, Protocol

Mark = Any
"""A point in the queue whose time the device writes down as it passes; opaque to timing."""

Intervals = list[list[float]]
"""For each run of some work, the seconds between clock readings around each of its launches."""


class Queue(Protocol):
    """An in-order queue of one device. All but `finish` return before the device is done."""

    def hold(self, seconds: float) -> None:
        """Keeps the device busy for about `seconds`, so that what follows waits in the queue."""
        ...

    def evict(self) -> None:
        """Reads enough other memory to push everything out of L2, leaving no dirty lines."""
        ...

    def mark(self) -> Mark:
        """Puts a mark in the queue."""
        ...

    def reached(self, mark: Mark) -> bool:
        """Whether the device has passed `mark`."""
        ...

    def elapsed_s(self, first: Mark, second: Mark) -> float:
        """Seconds between two marks that the device has passed."""
        ...

    def finish(self) -> None:
        """Waits until the queue is empty."""
        ...

    def stamp_tick_s(self) -> float:
        """Smallest step of the device's own counter, measured; inf if it was not seen to move."""
        ...


class Work(Protocol):
    """What is timed: a fixed sequence of `launches` launches."""

    @property
    def launches(self) -> int: ...

    def enqueue(self, launch: int) -> None:
        """Puts the launch of that index into the queue."""
        ...

    def capture(self, repeats: int, *, spaced: bool) -> Callable[[], None]:
        """A graph of `repeats` times the whole sequence; calling the result enqueues it.

        `spaced` puts a one-thread kernel after each launch, so that no launch meets the tail of
        the one before.
        """
        ...

    def capture_stamped(self, runs: int) -> Callable[[], Intervals]:
        """A graph of `runs` times: eviction, stamp, then each launch with a stamp after it.

        Calling the result runs it to its end and returns the intervals between stamps.
        """
        ...


Clock = Callable[[], float]
"""Host seconds, monotonic; time.perf_counter, or a fake in tests."""
