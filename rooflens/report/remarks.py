"""The lines above and below a run's table: the card, its roofs, where each number comes from."""

from collections.abc import Callable, Iterable, Iterator

from rooflens import units
from rooflens.analysis import roofline
from rooflens.analysis.statistics import relative_width
from rooflens.hardware import Ceiling, HardwareSpec
from rooflens.precision import Precision
from rooflens.report.columns import Line, against_peak, all_ok, size_text
from rooflens.report.text import clean
from rooflens.run import ColdClock, Run
from rooflens.terms import Bound, CacheState, MemoryLevel, Status

TARGET_WIDTH = 0.01
_NAMED = 3


def heading(run: Run, lines: tuple[Line, ...]) -> list[str]:
    """Card, roofs and what was done, above the table."""
    if run.hardware is None:
        return ["unknown card: no roofs", _deed(run, lines)]
    return [_card(run.hardware), *_roofs(run.hardware, lines), _deed(run, lines)]


def remarks(run: Run, lines: tuple[Line, ...], shown: frozenset[str]) -> list[str]:
    """What the columns mean, then what each odd result needs said, below the table.

    `shown` holds the names of the columns that the table shows.
    """
    return [
        *_legend(run, lines, shown),
        *_reasons(lines),
        *_unsure(lines),
        *_grouped("note", _notes(lines)),
        *(f"note: {clean(note)}" for note in _run_notes(run)),
    ]


def _run_notes(run: Run) -> tuple[str, ...]:
    return (*(() if run.hardware is None else run.hardware.notes), *run.provenance.notes)


def _card(hardware: HardwareSpec) -> str:
    major, minor = hardware.compute_capability
    facts = [
        f"compute capability {major}.{minor}",
        f"{hardware.limits.sm_count} SMs",
        f"{units.hertz(hardware.sm_clock_hz)} clock" if hardware.sm_clock_hz else "",
        f"{units.byte_count(hardware.dram_bytes)} memory" if hardware.dram_bytes else "",
        f"{units.byte_count(hardware.l2_bytes)} L2" if hardware.l2_bytes else "",
    ]
    return f"{clean(hardware.name)}: {', '.join(fact for fact in facts if fact)}"


def _roofs(hardware: HardwareSpec, lines: tuple[Line, ...]) -> Iterator[str]:
    bandwidth = hardware.bandwidths.get(MemoryLevel.DRAM)
    wanted = dict.fromkeys(line.placement.precision for line in lines)
    named = [_roof("DRAM bandwidth", units.byte_rate, bandwidth)]
    ridges = []
    for precision in wanted:
        if precision is None:
            continue
        peak = hardware.peaks.get(precision)
        named.append(_roof(f"{_precision(precision)} peak", units.flop_rate, peak))
        if peak is not None and bandwidth is not None:
            ridge = units.number(roofline.ridge(peak.per_s, bandwidth.per_s))
            ridges.append(f"{_precision(precision)} ridge {ridge} FLOP/byte")
    yield f"roofs: {', '.join([*named, *ridges])}"
    sources = dict.fromkeys(
        clean(ceiling.source)
        for ceiling in (bandwidth, *(hardware.peaks.get(one) for one in wanted if one is not None))
        if ceiling is not None
    )
    if sources:
        yield f"source of the roofs: {'; '.join(sources)}"


def _roof(name: str, rate: Callable[[float | None], str], ceiling: Ceiling | None) -> str:
    if ceiling is None:
        return f"{name} unknown"
    return f"{name} {rate(ceiling.per_s)} ({_basis(ceiling)})"


def _basis(ceiling: Ceiling) -> str:
    return ceiling.basis.value.replace("_", "-")


def _precision(precision: Precision) -> str:
    return precision.value.upper().replace("_", " ")


def _deed(run: Run, lines: tuple[Line, ...]) -> str:
    source = run.provenance
    versions = [
        f"rooflens {clean(source.rooflens_version)}",
        f"driver {clean(source.driver_version)}" if source.driver_version else "",
        f"NVRTC {clean(source.nvrtc_version)}" if source.nvrtc_version else "",
        clean(source.created_utc),
    ]
    known = ", ".join(version for version in versions if version)
    bases = dict.fromkeys(line.measurement.basis.value for line in lines)
    dtypes = dict.fromkeys(
        line.measurement.dtype.value for line in lines if line.measurement.dtype is not None
    )
    if any(line.placement.rates for line in lines):
        done = f"basis: {' and '.join(bases)}"
    else:
        done = f"basis: {' and '.join(bases) or 'none'}; nothing was timed"
    if not lines:
        return f"{done}; no results; {known}"
    return "; ".join(part for part in (done, " and ".join(dtypes), known) if part)


def _legend(run: Run, lines: tuple[Line, ...], shown: frozenset[str]) -> Iterator[str]:
    if lines and all_ok(lines):
        yield "check: every result is within the tolerance of its float64 reference"
    states = {state for line in lines for state in line.placement.rates}
    if states & {CacheState.HOT, CacheState.COLD}:
        yield (
            "hot, cold: median time with the data as the run before left it in cache, or after "
            "other data was read through L2; GB/s: compulsory bytes (each input and each output "
            "once) over that time"
        )
    if any(line.measurement.report is not None for line in lines):
        yield (
            "reported: the time of the launch as the tool has it; GB/s and FLOP/byte of such rows: "
            "by the bytes through DRAM and the operations that it counted"
        )
    calibration = run.provenance.calibration
    if calibration is not None and any(CacheState.COLD in line.placement.rates for line in lines):
        clock = "clock stamps" if calibration.cold_clock is ColdClock.STAMPS else "event pairs"
        yield (
            f"cold: {clock} around each launch, less what an empty kernel reads beyond its "
            f"{units.seconds(calibration.empty_graph_s)} with the same buffers in place"
        )
    yield from _roof_legend(lines)
    if "bound time" in shown:
        yield "bound time: the least that the roofs allow, from the cost model; it was not measured"
    counted = [
        "issued/compuls.: bytes that the loads and stores of the code ask for over compulsory ones"
        if "issued" in shown
        else "",
        "threads: of the largest launch" if "threads" in shown else "",
        "regs, spill: of the compiled code, per thread" if "registers" in shown else "",
    ]
    if any(counted):
        yield "; ".join(part for part in counted if part)


def _roof_legend(lines: tuple[Line, ...]) -> Iterator[str]:
    """One line that names the roof, or roofs, behind the column "of roof"."""
    named: dict[str, None] = {}
    for line in lines:
        rate, placement = line.placement.primary_rate, line.placement
        if rate is None:
            continue
        if not against_peak(rate):
            named[f"of {_roof('DRAM bandwidth', units.byte_rate, placement.bandwidth)}"] = None
        elif placement.precision is not None and placement.peak is not None:
            peak = _roof(f"{_precision(placement.precision)} peak", units.flop_rate, placement.peak)
            named[f"of {peak} where arithmetic bounds"] = None
    if named:
        yield f"of roof: share {', '.join(named)}"


def _reasons(lines: tuple[Line, ...]) -> Iterator[str]:
    for status in (Status.FAILED, Status.SKIPPED):
        said = (
            (clean(line.measurement.reason or ""), line)
            for line in lines
            if line.measurement.status is status
        )
        yield from _grouped(status.value, said)
    unverified = (
        (clean(line.measurement.verification.failure or "the result is not the reference's"), line)
        for line in lines
        if line.measurement.status is Status.OK
        and line.measurement.verification is not None
        and not line.measurement.verification.passed
    )
    yield from _grouped("failed", unverified)


def _unsure(lines: tuple[Line, ...]) -> Iterator[str]:
    """Times that the method cannot tell apart, and medians not known to 1 %."""
    if any(not rate.resolved for line in lines for rate in line.placement.rates.values()):
        yield "<=: the median is not above what the method can tell apart, which is shown instead"
    wide: list[str] = []
    for line in lines:
        for state, rate in line.placement.rates.items():
            if state is CacheState.REPORTED:
                continue
            width = relative_width(line.measurement.times[state].samples_s)
            if rate.resolved and (width is None or width > TARGET_WIDTH):
                wide.append(f"{_name(line)} {state} {_width(width)}")
    if wide:
        yield f"95 % interval of the median wider than 1 %: {_some(wide)}"


def _width(width: float | None) -> str:
    return "(too few samples to tell)" if width is None else f"({units.fraction(width)})"


def _notes(lines: tuple[Line, ...]) -> Iterator[tuple[str, Line]]:
    for line in lines:
        for note in line.measurement.notes:
            yield clean(note), line
        if line.measurement.status is not Status.OK:
            continue
        for note in line.placement.notes:
            yield clean(note), line
        rate = line.placement.primary_rate
        if rate is None or not rate.resolved:
            continue
        if rate.bound is Bound.CACHE:
            yield "faster than DRAM, which is no error: part of its data stays in L2", line
        elif rate.note and rate.bound in (Bound.SUSPECT, None):
            yield clean(f"{line.placement.primary}: {rate.note}"), line


def _grouped(kind: str, said: Iterable[tuple[str, Line]]) -> Iterator[str]:
    """One line per distinct text, with the results that it is about."""
    by_text: dict[str, list[str]] = {}
    for text, line in said:
        by_text.setdefault(text, []).append(_name(line))
    for text, names in by_text.items():
        yield f"{kind}: {_some(list(dict.fromkeys(names)))}: {text}"


def _name(line: Line) -> str:
    return f"{clean(line.measurement.kernel)} {size_text(line.measurement.size)}".rstrip()


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    listed = ", ".join(names[:_NAMED])
    return f"{listed} and {more} more" if more > 0 else listed
