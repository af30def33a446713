"""The seed texts' figures beside a run's: as a table, JSON documents and CSV rows."""

from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console

from rooflens import units
from rooflens.analysis.placed import Rate
from rooflens.analysis.seeds import SeedRow
from rooflens.kernels.seed_figures import REFERENCE_CARD, SOURCE
from rooflens.report.columns import against_peak
from rooflens.report.csv import write_rows
from rooflens.report.grid import Field, print_grid, print_line
from rooflens.report.ladder import ratio_text
from rooflens.report.text import clean
from rooflens.run import Run
from rooflens.terms import Bound

Document = dict[str, Any]

_HEADINGS = (
    "kernel",
    "there\nms",
    "there\nGB/s",
    "there\nvs naive",
    "here\nhot",
    "here\nGB/s",
    "here\nvs naive",
)


def print_seeds(
    rows: Sequence[SeedRow], run: Run, run_name: str, dram_bytes_per_s: float, console: Console
) -> None:
    """The texts' figures beside the run's."""
    print_line(f"there: {SOURCE}, as printed", console)
    print_line(f"here: {clean(run.card_name)}, run {clean(run_name)}, hot medians", console)
    console.print()
    cells = [_seed_cells(row) for row in rows]
    fields = [
        Field(
            name=heading,
            heading=heading,
            cells=tuple(one[index] for one in cells),
            left=index == 0,
        )
        for index, heading in enumerate(_HEADINGS)
    ]
    print_grid(fields, console)
    console.print()
    for text in _seed_notes(rows, dram_bytes_per_s):
        print_line(text, console)


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


def write_seed_csv(documents: Iterable[Document], stream: TextIO, **origin: str) -> None:
    """One row a figure. `origin`: cells that every row begins with."""
    rows = [
        {
            **origin,
            "kernel": one["kernel"],
            "size": ",".join(f"{name}={extent}" for name, extent in one["size"].items()),
            **{f"there_{name}": value for name, value in one["there"].items()},
            **{
                f"here_{name}": value
                for name, value in one["here"].items()
                if name != "ratio_interval"
            },
            "here_ratio_low": (one["here"]["ratio_interval"] or (None, None))[0],
            "here_ratio_high": (one["here"]["ratio_interval"] or (None, None))[1],
        }
        for one in documents
    ]
    write_rows(rows, stream)


def _seed_cells(row: SeedRow) -> tuple[str, ...]:
    figure, rate = row.figure, row.rate
    there = units.ABSENT if figure.bytes_per_s is None else f"{figure.bytes_per_s / 1e9:.2f}"
    return (
        figure.kernel,
        ("~" if figure.time_is_about else "") + figure.time_ms,
        there + (" *" if row.cached_there else ""),
        ("~" if figure.ratio_is_about else "") + f"{figure.ratio:.2f}",
        _hot(rate),
        _here_rate(rate),
        ratio_text(row.ratio, row.ratio_interval),
    )


def _hot(rate: Rate | None) -> str:
    if rate is None:
        return units.ABSENT
    return units.seconds(rate.median_s) if rate.resolved else "unresolved"


def _here_rate(rate: Rate | None) -> str:
    if rate is None or rate.achieved_bytes_per_s is None or against_peak(rate):
        return units.ABSENT
    mark = " *" if rate.bound is Bound.CACHE else ""
    return f"{rate.achieved_bytes_per_s / 1e9:.0f}{mark}"


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
    missing: dict[str, list[str]] = {}
    for row in rows:
        if row.missing is not None:
            missing.setdefault(row.missing, []).append(row.figure.kernel)
    notes.extend(f"{clean(why)}: {', '.join(names)}" for why, names in missing.items())
    return notes
