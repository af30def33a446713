"""Ladders and seed figures as tables, JSON documents and CSV rows."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rooflens import units
from rooflens.analysis.ladder import Ladder, Rung
from rooflens.analysis.placement import Rate
from rooflens.analysis.seeds import SeedRow
from rooflens.hardware import Ceiling
from rooflens.kernels.seed_figures import REFERENCE_CARD, SOURCE
from rooflens.report.columns import Line, against_peak, check_text, size_text
from rooflens.report.csv import safe_cell
from rooflens.report.text import clean
from rooflens.run import Run
from rooflens.terms import Bound, Status

Document = dict[str, Any]


def print_ladders(found: Sequence[Ladder], ideas: Mapping[str, str], console: Console) -> None:
    """A table for each ladder, and below it what its roofs are and why rungs are missing."""
    for ladder in found:
        state = "not timed" if ladder.state is None else f"{ladder.state} times"
        names = " x ".join(ladder.size)
        title = f"{ladder.family}, {names} = {size_text(ladder.size)}, {ladder.dtype}, {state}"
        console.print()
        console.print(Text(clean(title), style="bold"), soft_wrap=True)
        console.print(_ladder_table(ladder, ideas), soft_wrap=True)
        for text in _ladder_notes(ladder):
            console.print(Text(f"  {text}"), soft_wrap=not console.is_terminal)


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


def write_ladder_csv(documents: Iterable[Document], stream: TextIO) -> None:
    """One row a rung; sizes as one cell."""
    rows = [
        {
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
            **{f"ceiling_{name}": value for name, value in (rung["ceiling"] or {}).items()},
        }
        for one in documents
        for rung in one["rungs"]
    ]
    _write(rows, stream)


def print_seeds(
    rows: Sequence[SeedRow], run: Run, dram_bytes_per_s: float, console: Console
) -> None:
    """The texts' figures beside the run's."""
    table = _empty_table(
        ("kernel", True),
        ("there\ntime", False),
        ("there\nGB/s", False),
        ("there\nvs naive", False),
        ("here\nhot", False),
        ("here\nGB/s", False),
        ("here\nvs naive", False),
    )
    for row in rows:
        table.add_row(*(Text(text) for text in _seed_cells(row)))
    console.print(Text(f"there: {SOURCE}"), soft_wrap=not console.is_terminal)
    console.print(Text(f"here: {clean(run.hardware.name)}"), soft_wrap=not console.is_terminal)
    console.print()
    console.print(table, soft_wrap=True)
    console.print()
    for text in _seed_notes(rows, dram_bytes_per_s):
        console.print(Text(text), soft_wrap=not console.is_terminal)


def seed_documents(rows: Sequence[SeedRow]) -> list[Document]:
    """The rows as plain values in SI units, None where something is absent."""
    return [
        {
            "kernel": row.figure.kernel,
            "size": dict(row.figure.size),
            "there": {
                "card": REFERENCE_CARD,
                "source": SOURCE,
                "time_s": row.figure.time_s,
                "time_is_about": row.figure.time_is_about,
                "bytes_per_s": row.figure.bytes_per_s,
                "ratio_to_naive": row.figure.ratio,
                "ratio_is_about": row.figure.ratio_is_about,
                "only_a_cache_explains_it": row.cached_there,
                "contradicts_itself": row.contradicts,
            },
            "here": {
                "hot_median_s": None if row.rate is None else row.rate.median_s,
                "bytes_per_s": None if row.rate is None else row.rate.achieved_bytes_per_s,
                "ratio_to_naive": row.ratio,
                "ratio_interval": row.ratio_interval,
                "bound": None
                if row.rate is None or row.rate.bound is None
                else row.rate.bound.value,
                "missing": row.missing,
            },
        }
        for row in rows
    ]


def write_seed_csv(documents: Iterable[Document], stream: TextIO) -> None:
    """One row a figure."""
    rows = [
        {
            "kernel": one["kernel"],
            "size": ",".join(f"{name}={extent}" for name, extent in one["size"].items()),
            **{f"there_{name}": value for name, value in one["there"].items()},
            **{
                f"here_{name}": value
                for name, value in one["here"].items()
                if name != "ratio_interval"
            },
        }
        for one in documents
    ]
    _write(rows, stream)


def _write(rows: Sequence[Document], stream: TextIO) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(stream, lineterminator="\r\n")
    if names:
        writer.writerow(names)
    writer.writerows([safe_cell(row.get(name)) for name in names] for row in rows)


def _empty_table(*columns: tuple[str, bool]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for heading, left in columns:
        table.add_column(
            heading, justify="left" if left else "right", no_wrap=True, vertical="bottom"
        )
    return table


def _ladder_table(ladder: Ladder, ideas: Mapping[str, str]) -> Table:
    if ladder.state is None:
        table = _empty_table(("rung", True), ("bound time\n(modelled)", False), ("", True))
        for rung in ladder.rungs:
            bound = units.seconds(rung.placement.time_bound_s)
            table.add_row(_variant(rung), bound, Text(ideas.get(rung.measurement.kernel, "")))
        return table
    table = _empty_table(
        ("rung", True),
        ("median", False),
        ("speed-up", False),
        ("rate", False),
        ("of\nroof", False),
        ("what changed", True),
    )
    for rung in ladder.rungs:
        cells = (_median(rung), _ratio(rung.speed_up, rung.speed_up_interval))
        table.add_row(
            _variant(rung),
            *cells,
            *_rate_cells(rung.rate),
            Text(ideas.get(rung.measurement.kernel, "")),
        )
    return table


def _variant(rung: Rung) -> Text:
    return Text(clean(rung.measurement.variant))


def _median(rung: Rung) -> str:
    if rung.rate is None:
        return check_text(Line(measurement=rung.measurement, placement=rung.placement))
    return units.seconds(rung.rate.median_s) if rung.rate.resolved else "unresolved"


def _ratio(value: float | None, interval: tuple[float, float] | None) -> str:
    """A ratio to three digits; to two, with its interval, where that is over a twentieth wide."""
    if value is None:
        return units.ABSENT
    if interval is not None and interval[1] - interval[0] > 0.05 * value:
        return f"{value:.2g} ({interval[0]:.2g} to {interval[1]:.2g})"
    return units.number(value)


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
        notes.append("* faster than DRAM: the data fits the L2 cache")
    notes.extend(
        f"{clean(rung.measurement.variant)}: {rung.measurement.status}: "
        f"{clean(rung.measurement.reason or '')}"
        for rung in ladder.rungs
        if rung.measurement.status is not Status.OK
    )
    return notes


def _rung_document(rung: Rung, ideas: Mapping[str, str]) -> Document:
    rate, roof = rung.rate, _roof(rung)
    of_peak = rate is not None and against_peak(rate)
    return {
        "kernel": rung.measurement.kernel,
        "status": rung.measurement.status.value,
        "reason": rung.measurement.reason,
        "basis": rung.measurement.basis.value,
        "median_s": None if rate is None else rate.median_s,
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
        },
        "bound": None if rate is None or rate.bound is None else rate.bound.value,
        "time_bound_s": rung.placement.time_bound_s,
        "idea": ideas.get(rung.measurement.kernel),
    }


def _seed_cells(row: SeedRow) -> tuple[str, ...]:
    figure, rate = row.figure, row.rate
    about = "~" if figure.time_is_about else ""
    there = units.ABSENT if figure.bytes_per_s is None else f"{figure.bytes_per_s / 1e9:.0f}"
    here = units.ABSENT
    if rate is not None and rate.achieved_bytes_per_s is not None and not against_peak(rate):
        here = f"{rate.achieved_bytes_per_s / 1e9:.0f}" + (
            " *" if rate.bound is Bound.CACHE else ""
        )
    return (
        figure.kernel,
        about + units.seconds(figure.time_s),
        there + (" *" if row.cached_there else ""),
        ("~" if figure.ratio_is_about else "") + f"{figure.ratio:.2f}",
        units.ABSENT if rate is None else units.seconds(rate.median_s),
        here,
        _ratio(row.ratio, row.ratio_interval),
    )


def _seed_notes(rows: Sequence[SeedRow], dram_bytes_per_s: float) -> list[str]:
    notes = [
        f"* only a cache explains it: {REFERENCE_CARD} has {units.byte_rate(dram_bytes_per_s)} of "
        "DRAM bandwidth; where a bandwidth is not printed, one read and one write over the time "
        "decide; a star here is against this card's own DRAM"
    ]
    notes.extend(
        f"{row.figure.kernel}: the printed bandwidth is not that of the printed time"
        for row in rows
        if row.contradicts
    )
    notes.extend(f"{row.figure.kernel}: {row.missing}" for row in rows if row.missing)
    return notes
