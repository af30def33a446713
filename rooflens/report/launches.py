"""The launches of each kernel of a run as a table, and what fusing them would save."""

from rich.console import Console
from rich.text import Text

from rooflens import units
from rooflens.analysis.fusion import FusionSaving, fusion_saving
from rooflens.measurement import LaunchRecord, Measurement
from rooflens.report.columns import size_text
from rooflens.report.grid import Field, print_grid, print_hidden, print_line
from rooflens.report.text import clean
from rooflens.run import Run
from rooflens.terms import MemoryLevel

# Name, heading and what it gives way to; see grid.Field.
_COLUMNS = (
    ("launch", "launch", 0),
    ("grid", "grid", 0),
    ("block", "block", 0),
    ("registers", "regs", 3),
    ("shared bytes", "shared\nbytes", 2),
    ("compulsory bytes", "compulsory\nbytes", 4),
    ("issued bytes", "issued\nbytes", 0),
    ("FLOP", "FLOP", 1),
    ("special functions", "special", 1),
)


def print_launches(run: Run, console: Console) -> None:
    """A table for each kernel that has launches. Costs are modelled; no launch is timed alone."""
    hidden: list[str] = []
    for one in run.measurements:
        if not one.launches:
            continue
        title = f"{one.kernel}, {size_text(one.size)}, {one.dtype}: {_how_many(one)}"
        console.print(Text(clean(title), style="bold"), soft_wrap=True)
        hidden.extend(print_grid(_fields(one), console))
        hardware = run.hardware
        bandwidth = None if hardware is None else hardware.bandwidths.get(MemoryLevel.DRAM)
        saving = fusion_saving(one, bandwidth)
        if saving is not None:
            print_line(f"  {_saving_text(saving)}", console)
        console.print()
    print_hidden(hidden, console)
    if not any(one.launches for one in run.measurements):
        print_line("no kernel of this run has launches on record", console)
        return
    print_line(
        "bytes, FLOP and special functions are modelled; registers and shared bytes are the "
        "compiler's; only the whole of a kernel is timed",
        console,
    )


def _saving_text(saving: FusionSaving) -> str:
    """What one launch would save of several, in a sentence."""
    between = saving.between
    text = (
        f"one launch would save {units.byte_count(between.total_bytes)} between launches "
        f"({units.byte_count(between.write_bytes)} written, "
        f"{units.byte_count(between.read_bytes)} read), {units.fraction(saving.fraction)} of what "
        "they must move (modelled)"
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


def _fields(measurement: Measurement) -> list[Field]:
    rows = [_cells(launch) for launch in measurement.launches]
    return [
        Field(
            name=name,
            heading=heading,
            cells=tuple(row[index] for row in rows),
            yields=yields,
            left=index == 0,
        )
        for index, (name, heading, yields) in enumerate(_COLUMNS)
    ]


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
