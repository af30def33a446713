"""The raw time samples of a run, apart from the record that they belong to."""

from collections.abc import Mapping

from rooflens.run import Run
from rooflens.terms import CacheState

SampleKey = tuple[int, CacheState]
"""Index of the result in the run, and the cache state."""

Samples = Mapping[SampleKey, tuple[float, ...]]
"""Seconds per run of the kernel, in the order they were taken."""


def samples_of(run: Run) -> dict[SampleKey, tuple[float, ...]]:
    """All raw samples of a run by result index and cache state, in the run's order."""
    return {
        (index, state): times.samples_s
        for index, measurement in enumerate(run.measurements)
        for state, times in measurement.times.items()
    }


def count_samples(samples: Samples) -> int:
    """How many samples there are in all."""
    return sum(len(values) for values in samples.values())
