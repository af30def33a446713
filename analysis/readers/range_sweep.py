"""Which ranges of a timeline a moment lies in."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K")
Range = tuple[float, float, str]
"""Start, end and name."""


def ranges_at(
    moments: Iterable[tuple[int, K, float]], ranges: Mapping[K, Sequence[Range]]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(index, names) for each (index, thread, time) in a range of its thread, the earliest first.

    Ranges need not be nested. A range holds its start and not its end.
    """
    by_thread: dict[K, list[tuple[float, int]]] = {}
    for index, thread, time in moments:
        if thread in ranges:
            by_thread.setdefault(thread, []).append((time, index))
    for thread, times in by_thread.items():
        waiting = sorted(ranges[thread], key=lambda one: (one[0], -one[1]))
        begun, place = list[Range](), 0
        for time, index in sorted(times):
            while place < len(waiting) and waiting[place][0] <= time:
                begun.append(waiting[place])
                place += 1
            begun = [one for one in begun if one[1] > time]
            if begun:
                yield index, tuple(name for _, _, name in begun)
