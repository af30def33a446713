"""Printed figures of a kernel beside a run of the same size, and what their bandwidths can be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rooflens.analysis.ladder import Timed, speed_up, speed_up_interval, timed
from rooflens.analysis.placed import Rate
from rooflens.analysis.placement import place
from rooflens.measurement import Measurement
from rooflens.run import Run
from rooflens.terms import CacheState


class Figure(Protocol):
    """What a text prints of a kernel; see rooflens.kernels.seed_figures.SeedFigure."""

    @property
    def kernel(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def size(self) -> Mapping[str, int]: ...
    @property
    def time_s(self) -> float: ...
    @property
    def time_ms(self) -> str: ...
    @property
    def bytes_per_s(self) -> float | None: ...
    @property
    def ratio(self) -> float: ...
    @property
    def ratio_is_about(self) -> bool: ...
    @property
    def time_is_about(self) -> bool: ...
    def rates(self) -> tuple[float, float] | None: ...
    def least_rate(self) -> float | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRow:
    """A figure, and the same kernel and size in a run, hot, since the texts time in a loop.

    cached_there: the figure's bandwidth is more than the reference card's DRAM has, so that only
    a cache explains it. contradicts: the printed bandwidth is not that of the printed time, beyond
    the rounding of the time. rate: None where the run lacks the row, with the reason in `missing`.
    """

    figure: Figure
    cached_there: bool
    contradicts: bool
    rate: Rate | None
    ratio: float | None
    ratio_interval: tuple[float, float] | None
    missing: str | None


def seed_rows(figures: Sequence[Figure], run: Run, dram_bytes_per_s: float) -> tuple[SeedRow, ...]:
    """The figures in order; ratios are to the first kernel of the family in them.

    dram_bytes_per_s: of the card that the figures come from.
    """
    found = {
        (one.kernel, tuple(one.size.items()), one.dtype.value): one
        for one in run.measurements
        if one.dtype is not None
    }
    bases: dict[str, Timed | None] = {}
    rows: list[SeedRow] = []
    for figure in figures:
        measurement = found.get((figure.kernel, tuple(figure.size.items()), "float32"))
        time, missing = _hot(measurement, run)
        base = bases.setdefault(figure.family, time)
        least = figure.least_rate()
        rows.append(
            SeedRow(
                figure=figure,
                cached_there=least is not None and least > dram_bytes_per_s,
                contradicts=_contradicts(figure),
                rate=None if time is None else time.rate,
                ratio=speed_up(base, time),
                ratio_interval=speed_up_interval(base, time),
                missing=missing,
            )
        )
    return tuple(rows)


def _hot(measurement: Measurement | None, run: Run) -> tuple[Timed | None, str | None]:
    if measurement is None:
        return None, "not in this run"
    found = timed(measurement, place(measurement, run.hardware), CacheState.HOT)
    return found, None if found is not None else measurement.reason or "no hot time"


def _contradicts(figure: Figure) -> bool:
    rates = figure.rates()
    if figure.bytes_per_s is None or rates is None or figure.time_is_about:
        return False
    return not rates[0] <= figure.bytes_per_s <= rates[1]
