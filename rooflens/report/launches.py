"""The launches of each kernel of a run as a table, and what fusing them would save."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rooflens import units
from rooflens.analysis.fusion import fusion_saving
from rooflens.measurement import LaunchRecord, Measurement
from rooflens.report.columns import size_text
from rooflens.report.text import clean
from rooflens.run import Run
from rooflens.terms import MemoryLevel

_HEADINGS = (
    "launch",
    "grid",
    "block",
    "regs",
    "shared\nbytes",
    "compulsory\nbytes",
    "issued\nbytes",
    "FLOP",
    "special",
)


def print_launches(run: Run, console: Console) -> None:
    """A table for each kernel that has launches. Costs are modelled; no launch is timed alone."""
    for one in run.measurements:
        if not one.launches:
            continue
        title = f"{one.kernel}, {size_text(one.size)}, {one.dtype}: {_how_many(one)}"
        console.print()
        console.print(Text(clean(title), style="bold"), soft_wrap=True)
        console.print(_table(one), soft_wrap=True)
        saving = saving_text(one, run)
        if saving is not None:
            console.print(Text(f"  {saving}"), soft_wrap=not console.is_terminal)
    console.print()
    console.print(
        Text("bytes, FLOP and special functions are modelled; only the whole of a kernel is timed"),
        soft_wrap=not console.is_terminal,
    )


def saving_text(measurement: Measurement, run: Run) -> str | None:
    """What one launch would save of several, in a sentence; None for one launch."""
    saving = fusion_saving(measurement, run.hardware.bandwidths.get(MemoryLevel.DRAM))
    if saving is None:
        return None
    text = (
        f"one launch would save {units.byte_count(saving.between_bytes)} between launches, "
        f"{units.fraction(saving.fraction)} of what they must move (modelled)"
    )
    if saving.time_s is None or saving.bandwidth is None:
        return text
    return (
        f"{text}: {units.seconds(saving.time_s)} at the DRAM bandwidth of "
        f"{units.byte_rate(saving.bandwidth.per_s)} ({saving.bandwidth.basis}), less where it "
        "stays in cache"
    )


def _how_many(measurement: Measurement) -> str:
    count = len(measurement.launches)
    return "1 launch" if count == 1 else f"{count} launches"


def _table(measurement: Measurement) -> Table:
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for index, heading in enumerate(_HEADINGS):
        table.add_column(
            heading, justify="right" if index else "left", no_wrap=True, vertical="bottom"
        )
    for launch in measurement.launches:
        table.add_row(*(Text(text) for text in _cells(launch)))
    return table


def _cells(launch: LaunchRecord) -> tuple[str, ...]:
    resources, cost = launch.resources, launch.cost
    shared = None
    if resources is not None:
        shared = resources.shared_bytes + launch.dynamic_shared_bytes
    return (
        clean(launch.entry),
        _extents(launch.grid),
        _extents(launch.block),
        units.count(None if resources is None else resources.registers),
        units.count(shared),
        units.byte_count(cost.compulsory.total_bytes),
        units.byte_count(cost.issued.total_bytes),
        units.count(sum(cost.flops.values())),
        units.count(cost.special_function_ops),
    )


def _extents(extents: tuple[int, int, int]) -> str:
    """Extents without trailing ones: "128", "16 x 16"."""
    x, y, z = extents
    used = (x,) if (y, z) == (1, 1) else (x, y) if z == 1 else extents
    return " x ".join(str(one) for one in used)
