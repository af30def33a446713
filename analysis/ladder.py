"""The rungs of a family beside each other: how much faster each is than the first."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rooflens.analysis.placed import Placement, Rate
from rooflens.analysis.placement import place
from rooflens.analysis.statistics import ratio_interval
from rooflens.measurement import Measurement
from rooflens.precision import DType
from rooflens.run import Run
from rooflens.terms import CacheState


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One variant on a ladder.

    is_base: the first rung with a resolved time, of several that have one; what the others are
    compared with. speed_up: its median over this one's, so 1 for itself; None where either has no
    resolved time, and on a ladder with a single one. speed_up_interval: holds the true ratio with
    at least 95 %, see statistics.ratio_interval; None for the base itself.
    """

    measurement: Measurement
    placement: Placement
    rate: Rate | None
    is_base: bool = False
    speed_up: float | None = None
    speed_up_interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Variants of one family at one size, in one dtype and cache state; state None: not timed."""

    family: str
    size: dict[str, int]
    dtype: DType
    state: CacheState | None
    rungs: tuple[Rung, ...]


def ladders(run: Run, family: str, order: Sequence[str]) -> tuple[Ladder, ...]:
    """The ladders of a family in a run: one for each size, dtype and cache state that was timed.

    order: names of kernels in the order of the rungs; kernels that it lacks come last. Where
    nothing was timed there is one ladder without times.
    """
    rank = {name: place for place, name in enumerate(order)}
    groups: dict[tuple[tuple[tuple[str, int], ...], DType], list[Measurement]] = {}
    for one in run.measurements:
        if one.family == family and one.dtype is not None:
            groups.setdefault((tuple(one.size.items()), one.dtype), []).append(one)
    found: list[Ladder] = []
    for (size, dtype), members in groups.items():
        members.sort(key=lambda one: rank.get(one.kernel, len(rank)))
        placed = [(one, place(one, run.hardware)) for one in members]
        states: list[CacheState | None] = [
            state for state in CacheState if any(state in where.rates for _, where in placed)
        ]
        found.extend(
            Ladder(
                family=family,
                size=dict(size),
                dtype=dtype,
                state=state,
                rungs=_rungs(placed, state),
            )
            for state in (states or [None])
        )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A rate and the samples that it was made from."""

    rate: Rate
    samples_s: tuple[float, ...]


def timed(measurement: Measurement, placement: Placement, state: CacheState) -> Timed | None:
    """The rate in one state; None where there is none."""
    rate = placement.rates.get(state)
    if rate is None:
        return None
    return Timed(rate=rate, samples_s=measurement.times[state].samples_s)


def speed_up(base: Timed | None, other: Timed | None) -> float | None:
    """How many times faster `other` is than `base`; None where a time is absent or not resolved."""
    if base is None or other is None or not (base.rate.resolved and other.rate.resolved):
        return None
    ratio = base.rate.median_s / other.rate.median_s
    return ratio if math.isfinite(ratio) else None


def speed_up_interval(base: Timed | None, other: Timed | None) -> tuple[float, float] | None:
    """The interval of that ratio; None without one, and for the base itself."""
    if base is None or other is None or base is other or speed_up(base, other) is None:
        return None
    return ratio_interval(base.samples_s, other.samples_s)


def _rungs(
    placed: Sequence[tuple[Measurement, Placement]], state: CacheState | None
) -> tuple[Rung, ...]:
    times = [None if state is None else timed(one, where, state) for one, where in placed]
    resolved = [one for one in times if one is not None and one.rate.resolved]
    base = resolved[0] if len(resolved) > 1 else None
    return tuple(
        Rung(
            measurement=one,
            placement=where,
            rate=None if time is None else time.rate,
            is_base=time is not None and time is base,
            speed_up=speed_up(base, time),
            speed_up_interval=speed_up_interval(base, time),
        )
        for (one, where), time in zip(placed, times, strict=True)
    )
