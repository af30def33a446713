"""Ladders as tables, JSON documents and CSV rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from rooflens import units
from rooflens.analysis.ladder import Ladder, Rung
from rooflens.analysis.placed import Rate
from rooflens.hardware import Ceiling
from rooflens.measurement import Measurement
from rooflens.report.columns import Line, against_peak, check_text, issued_ratio, size_text
from rooflens.report.csv import write_rows
from rooflens.report.grid import Field, print_grid, print_hidden, print_line
from rooflens.report.text import clean
from rooflens.terms import Bound, Status

Document = dict[str, Any]

_IDEA = "what changed"


def print_ladders(found: Sequence[Ladder], ideas: Mapping[str, str], console: Console) -> None:
    """A table for each ladder, and below it what its roofs are and why rungs are missing.

    What changed from rung to rung stands in the tables where there is room, else once below them.
    """
    hidden: dict[str, None] = {}
    for ladder in found:
        state = "not timed" if ladder.state is None else f"{ladder.state} times"
        names = " x ".join(ladder.size)
        title = f"{ladder.family}, {names} = {size_text(ladder.size)}, {ladder.dtype}, {state}"
        console.print()
        console.print(Text(clean(title), style="bold"), soft_wrap=True)
        hidden |= dict.fromkeys(print_grid(_fields(ladder, ideas), console))
        for text in _ladder_notes(ladder):
            print_line(f"  {text}", console)
    console.print()
    if _IDEA in hidden:
        del hidden[_IDEA]
        print_line(f"{_IDEA}:", console)
        rungs = (rung.measurement for ladder in found for rung in ladder.rungs)
        for variant, kernel in {_rung_name(one): one.kernel for one in rungs}.items():
            print_line(f"  {variant}: {clean(ideas.get(kernel, units.ABSENT))}", console)
    print_hidden(list(hidden), console)


def ladder_documents(found: Sequence[Ladder], ideas: Mapping[str, str]) -> list[Document]:
    """The ladders as plain values in SI units, None where something is absent."""
    return [
        {
            "family": ladder.family,
            "size": dict(ladder.size),
            "dtype": ladder.dtype.value,
            "cache_state": None if ladder.state is None else ladder.state.value,
            "rungs": [_rung_document(rung, ideas) for rung in ladder.rungs],
        }
        for ladder in found
    ]


def write_ladder_csv(documents: Iterable[Document], stream: TextIO, **origin: str) -> None:
    """One row a rung; sizes as one cell. `origin`: cells that every row begins with."""
    rows = [
        {
            **origin,
            "family": one["family"],
            "size": ",".join(f"{name}={extent}" for name, extent in one["size"].items()),
            "dtype": one["dtype"],
            "cache_state": one["cache_state"],
            **{
                name: value
                for name, value in rung.items()
                if name not in ("ceiling", "speed_up_interval")
            },
            "speed_up_low": (rung["speed_up_interval"] or (None, None))[0],
            "speed_up_high": (rung["speed_up_interval"] or (None, None))[1],
            **{
                f"ceiling_{name}": (rung["ceiling"] or {}).get(name)
                for name in ("kind", "per_s", "basis", "source")
            },
        }
        for one in documents
        for rung in one["rungs"]
    ]
    write_rows(rows, stream)


def ratio_text(value: float | None, interval: tuple[float, float] | None) -> str:
    """A ratio to three digits; to two, with its interval, where that is over a twentieth wide."""
    if value is None:
        return units.ABSENT
    if interval is not None and interval[1] - interval[0] > 0.05 * value:
        return f"{value:.2g} ({interval[0]:.2g} to {interval[1]:.2g})"
    return units.number(value)


def _fields(ladder: Ladder, ideas: Mapping[str, str]) -> list[Field]:
    rungs = ladder.rungs

    def field(
        name: str, heading: str, cells: Iterable[str], yields: int = 0, *, left: bool = False
    ) -> Field:
        return Field(name=name, heading=heading, cells=tuple(cells), yields=yields, left=left)

    first = field("rung", "rung", (_rung_name(one.measurement) for one in rungs), left=True)
    issued = field("issued", "issued/\ncompuls.", (issued_ratio(_line(one)) for one in rungs), 2)
    idea = field(
        _IDEA,
        _IDEA,
        (clean(ideas.get(one.measurement.kernel, units.ABSENT)) for one in rungs),
        3,
        left=True,
    )
    if ladder.state is None:
        bounds = [units.seconds(one.placement.time_bound_s) for one in rungs]
        checks = [check_text(_line(one)) for one in rungs]
        return [
            first,
            field("check", "check", checks, 1, left=True),
            field("bound time", "bound time\n(modelled)", bounds),
            issued,
            idea,
        ]
    rates = [_rate_cells(one.rate) for one in rungs]
    ups = [
        ratio_text(one.speed_up, one.speed_up_interval) + (" base" if one.is_base else "")
        for one in rungs
    ]
    bounds = [_bound(one.rate) for one in rungs]
    return [
        first,
        field("median", "median", (_median(one) for one in rungs)),
        field("speed-up", "speed-up", ups),
        field("rate", "rate", (rate for rate, _ in rates)),
        field("of roof", "of\nroof", (share for _, share in rates)),
        field("bound", "bound", bounds, 1, left=True),
        issued,
        idea,
    ]


def _line(rung: Rung) -> Line:
    return Line(measurement=rung.measurement, placement=rung.placement)


def _bound(rate: Rate | None) -> str:
    return units.ABSENT if rate is None or rate.bound is None else rate.bound.value


def _median(rung: Rung) -> str:
    if rung.rate is None:
        return check_text(_line(rung))
    return units.seconds(rung.rate.median_s) if rung.rate.resolved else "unresolved"


def _rate_cells(rate: Rate | None) -> tuple[str, str]:
    if rate is None or (rate.achieved_bytes_per_s is None and rate.achieved_flops_per_s is None):
        return units.ABSENT, units.ABSENT
    if against_peak(rate):
        return units.flop_rate(rate.achieved_flops_per_s), units.fraction(rate.fraction_of_peak)
    mark = " *" if rate.bound is Bound.CACHE else ""
    return (
        units.byte_rate(rate.achieved_bytes_per_s),
        units.fraction(rate.fraction_of_bandwidth) + mark,
    )


def _roof(rung: Rung) -> Ceiling | None:
    """The ceiling that the rung's fraction is of."""
    if rung.rate is None:
        return None
    return rung.placement.peak if against_peak(rung.rate) else rung.placement.bandwidth


def _ladder_notes(ladder: Ladder) -> list[str]:
    notes: list[str] = []
    roofs = {
        (
            f"{rung.placement.precision} peak {units.flop_rate(roof.per_s)}"
            if roof is rung.placement.peak
            else f"DRAM bandwidth {units.byte_rate(roof.per_s)}"
        )
        + f" ({roof.basis})": None
        for rung in ladder.rungs
        if (roof := _roof(rung)) is not None
    }
    if roofs:
        notes.append(
            f"roof: {'; '.join(roofs)}; rates are of compulsory bytes or defined operations"
        )
    if any(rung.rate is not None and rung.rate.bound is Bound.CACHE for rung in ladder.rungs):
        notes.append("* faster than DRAM: part of its data stays in L2")
    notes.extend(
        f"{_rung_name(rung.measurement)}: {rung.measurement.status}: "
        f"{clean(rung.measurement.reason or '')}"
        for rung in ladder.rungs
        if rung.measurement.status is not Status.OK
    )
    notes.extend(
        f"{_rung_name(one)}: failed: {clean(one.verification.failure or 'wrong result')}"
        for one in (rung.measurement for rung in ladder.rungs)
        if one.status is Status.OK and one.verification and not one.verification.passed
    )
    return notes


def _rung_document(rung: Rung, ideas: Mapping[str, str]) -> Document:
    rate, roof = rung.rate, _roof(rung)
    of_peak, cost = rate is not None and against_peak(rate), rung.measurement.cost
    return {
        "kernel": rung.measurement.kernel,
        "status": rung.measurement.status.value,
        "reason": rung.measurement.reason,
        "basis": rung.measurement.basis.value,
        "median_s": None if rate is None else rate.median_s,
        "is_base": rung.is_base,
        "speed_up": rung.speed_up,
        "speed_up_interval": rung.speed_up_interval,
        "achieved_bytes_per_s": None if rate is None else rate.achieved_bytes_per_s,
        "achieved_flops_per_s": None if rate is None else rate.achieved_flops_per_s,
        "fraction_of_roof": None
        if rate is None
        else (rate.fraction_of_peak if of_peak else rate.fraction_of_bandwidth),
        "ceiling": None
        if roof is None
        else {
            "kind": "peak" if of_peak else "bandwidth",
            "per_s": roof.per_s,
            "basis": roof.basis.value,
            "source": roof.source,
        },
        "bound": None if rate is None or rate.bound is None else rate.bound.value,
        "time_bound_s": rung.placement.time_bound_s,
        "compulsory_bytes": None if cost is None else cost.compulsory.total_bytes,
        "issued_bytes": None if cost is None else cost.issued.total_bytes,
        "idea": ideas.get(rung.measurement.kernel),
    }


def _rung_name(measurement: Measurement) -> str:
    """The variant, which every row of a ladder has."""
    return clean(measurement.variant or measurement.kernel)
