"""The rungs of a family beside each other: how much faster each is than the first."""

from collections.abc import Sequence
from dataclasses import dataclass

from rooflens.analysis.placement import Placement, Rate, place
from rooflens.measurement import Measurement
from rooflens.precision import DType
from rooflens.run import Run
from rooflens.terms import CacheState


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One variant on a ladder.

    speed_up: the first timed rung's median over this one's; None where either has no resolved time.
    speed_up_interval: from the 95 % intervals of both medians, each at its worst, so that it holds
    the true ratio at least nine times in ten; None for the first rung itself.
    """

    measurement: Measurement
    placement: Placement
    rate: Rate | None
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
        if one.family == family:
            groups.setdefault((tuple(one.size.items()), one.dtype), []).append(one)
    found: list[Ladder] = []
    for (size, dtype), members in groups.items():
        members.sort(key=lambda one: rank.get(one.kernel, len(rank)))
        placed = [(one, place(one, run.hardware)) for one in members]
        timed: list[CacheState | None] = [
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
            for state in (timed or [None])
        )
    return tuple(found)


def speed_up(first: Rate, other: Rate) -> float | None:
    """How many times faster `other` is than `first`; None where a time is not resolved."""
    return first.median_s / other.median_s if first.resolved and other.resolved else None


def speed_up_interval(first: Rate, other: Rate) -> tuple[float, float] | None:
    """The least and the most that the intervals of both medians allow."""
    if first.interval95 is None or other.interval95 is None or other.interval95[0] <= 0:
        return None
    return (
        first.interval95[0] / other.interval95[1],
        first.interval95[1] / other.interval95[0],
    )


def _rungs(
    placed: Sequence[tuple[Measurement, Placement]], state: CacheState | None
) -> tuple[Rung, ...]:
    rates = [None if state is None else where.rates.get(state) for _, where in placed]
    first = next((rate for rate in rates if rate is not None and rate.resolved), None)
    return tuple(
        Rung(
            measurement=one,
            placement=where,
            rate=rate,
            speed_up=None if first is None or rate is None else speed_up(first, rate),
            speed_up_interval=None
            if first is None or rate is None or rate is first
            else speed_up_interval(first, rate),
        )
        for (one, where), rate in zip(placed, rates, strict=True)
    )
