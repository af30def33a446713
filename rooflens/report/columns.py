"""The columns of a run's table: each one's heading, and its text for one result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rooflens import units
from rooflens.analysis.placed import Placement, Rate
from rooflens.measurement import Measurement
from rooflens.report.text import clean
from rooflens.terms import Bound, CacheState, MemoryLevel, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One result with its place under the roofs."""

    measurement: Measurement
    placement: Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: heading (two lines at most), text of a result, and what it gives way to.

    `yields` orders the columns that a narrow terminal drops: the highest goes first, 0 never goes.
    """

    name: str
    heading: str
    text: Callable[[Line], str]
    yields: int = 0
    left: bool = False


def columns_for(lines: tuple[Line, ...]) -> tuple[Column, ...]:
    """The columns that these results need, left to right."""
    size_heading, size_text = _size_column(lines)
    ours = not lines or any(line.measurement.report is None for line in lines)
    imported = any(line.measurement.report is not None for line in lines)
    untimed = any(line.placement.primary is None for line in lines)
    dtypes = {line.measurement.dtype for line in lines}
    primaries = {line.placement.primary for line in lines} - {None}
    one_state = primaries.pop() if len(primaries) == 1 else None
    timed = {state for line in lines for state in line.placement.rates}
    wanted = (
        Column(name="kernel", heading="kernel", text=_kernel, left=True),
        Column(name="dtype", heading="dtype", text=_dtype, left=True) if len(dtypes) > 1 else None,
        Column(name="size", heading=size_heading, text=size_text) if ours else None,
        Column(
            name="check",
            heading="check",
            text=check_text,
            left=True,
            yields=1 if all_ok(lines) else 0,
        )
        if ours
        else None,
        Column(
            name="hot",
            heading="hot\nmedian",
            text=_median(CacheState.HOT),
            yields=0 if CacheState.HOT in timed else 8,
        )
        if ours
        else None,
        Column(
            name="cold",
            heading="cold\nmedian",
            text=_median(CacheState.COLD),
            yields=0 if CacheState.COLD in timed else 8,
        )
        if ours
        else None,
        Column(name="launches", heading="launches", text=_launches, yields=2)
        if any(line.measurement.report and line.measurement.report.launches > 1 for line in lines)
        else None,
        Column(name="reported", heading="reported\ntime", text=_reported) if imported else None,
        Column(name="bound time", heading="bound time\n(modelled)", text=_time_bound)
        if untimed and ours
        else None,
        Column(name="threads", heading="threads\nlaunched", text=_threads, yields=4),
        Column(
            name="GB/s",
            heading="GB/s" if one_state is None else f"GB/s\n{one_state}",
            text=_rate_with_state if one_state is None else _rate_alone,
        )
        if timed
        else None,
        Column(name="DRAM bytes", heading="DRAM\nbytes", text=_dram_bytes, yields=2)
        if imported
        else None,
        Column(name="TFLOP/s", heading="TFLOP/s", text=_flop_rate) if imported else None,
        Column(name="issued", heading="issued/\ncompuls.", text=issued_ratio, yields=2)
        if ours
        else None,
        Column(name="intensity", heading="FLOP/\nbyte", text=_intensity, yields=3),
        Column(name="attainable", heading="attainable\nTFLOP/s", text=_attainable, yields=7),
        Column(name="of roof", heading="of\nroof", text=_of_roof) if timed else None,
        Column(name="bound", heading="bound", text=_bound, left=True),
        Column(name="registers", heading="regs", text=_registers, yields=5),
        Column(name="spills", heading="spill\nbytes", text=_spills, yields=6) if ours else None,
    )
    return tuple(column for column in wanted if column is not None)


def size_text(size: Mapping[str, int]) -> str:
    """A size as people write it without its names: "16384 x 4096"."""
    return " x ".join(str(extent) for extent in size.values())


def check_text(line: Line) -> str:
    """How verification ended: ok, FAILED, skipped, or "-" where there was nothing to verify."""
    measurement = line.measurement
    if measurement.status is Status.FAILED:
        return "FAILED"
    if measurement.status is Status.SKIPPED:
        return "skipped"
    if measurement.verification is None:
        return units.ABSENT
    return "ok" if measurement.verification.passed else "FAILED"


def all_ok(lines: tuple[Line, ...]) -> bool:
    """Whether every result was verified and passed."""
    return all(check_text(line) == "ok" for line in lines)


def issued_ratio(line: Line) -> str:
    """Bytes that the code's loads and stores ask for, over the compulsory ones."""
    cost = line.measurement.cost
    if cost is None or not cost.compulsory.total_bytes:
        return units.ABSENT
    return units.number(cost.issued.total_bytes / cost.compulsory.total_bytes)


def against_peak(rate: Rate) -> bool:
    """Whether the arithmetic peak is the roof that a rate is compared with."""
    of_peak, of_bandwidth = rate.fraction_of_peak, rate.fraction_of_bandwidth
    if rate.bound is Bound.COMPUTE or of_bandwidth is None:
        return True
    return rate.bound is Bound.SUSPECT and of_peak is not None and of_peak > of_bandwidth


def _size_column(lines: tuple[Line, ...]) -> tuple[str, Callable[[Line], str]]:
    names = {tuple(line.measurement.size) for line in lines}
    if len(names) == 1:
        heading = " x ".join(clean(name) for name in names.pop())
        return heading or "size", lambda line: size_text(line.measurement.size)
    return "size", lambda line: ",".join(
        f"{clean(name)}={extent}" for name, extent in line.measurement.size.items()
    )


def _kernel(line: Line) -> str:
    return clean(line.measurement.kernel)


def _dtype(line: Line) -> str:
    dtype = line.measurement.dtype
    return units.ABSENT if dtype is None else dtype.value


def _median(state: CacheState) -> Callable[[Line], str]:
    def text(line: Line) -> str:
        rate = line.placement.rates.get(state)
        if rate is None:
            return units.ABSENT
        if rate.resolved:
            return units.seconds(rate.median_s)
        return f"<= {units.seconds(line.measurement.times[state].resolution_s)}"

    return text


def _launches(line: Line) -> str:
    report = line.measurement.report
    return units.count(None if report is None else report.launches)


def _reported(line: Line) -> str:
    """The time that a tool reports; of a summary of launches its mean, which says so."""
    report = line.measurement.report
    if report is not None and report.mean_time_s is not None:
        return f"{units.seconds(report.mean_time_s)} mean"
    return _median(CacheState.REPORTED)(line)


def _dram_bytes(line: Line) -> str:
    report = line.measurement.report
    counted = None if report is None else report.traffic_bytes.get(MemoryLevel.DRAM)
    return units.ABSENT if counted is None else units.byte_count(round(counted))


def _flop_rate(line: Line) -> str:
    rate = line.placement.primary_rate
    if rate is None or rate.achieved_flops_per_s is None:
        return units.ABSENT
    return units.number(rate.achieved_flops_per_s / 1e12)


def _time_bound(line: Line) -> str:
    return units.seconds(line.placement.time_bound_s)


def _threads(line: Line) -> str:
    report = line.measurement.report
    if report is not None:
        return units.count(report.threads)
    launches = line.measurement.launches
    return units.count(max((launch.threads for launch in launches), default=None))


def _rate_alone(line: Line) -> str:
    rate = line.placement.primary_rate
    if rate is None or rate.achieved_bytes_per_s is None:
        return units.ABSENT
    return units.number(rate.achieved_bytes_per_s / 1e9)


def _rate_with_state(line: Line) -> str:
    text = _rate_alone(line)
    return text if text == units.ABSENT else f"{text} {line.placement.primary}"


def _intensity(line: Line) -> str:
    return units.number(line.placement.intensity)


def _attainable(line: Line) -> str:
    attainable = line.placement.attainable_flops_per_s
    return units.number(None if attainable is None else attainable / 1e12)


def _of_roof(line: Line) -> str:
    rate = line.placement.primary_rate
    if rate is None:
        return units.ABSENT
    return units.fraction(
        rate.fraction_of_peak if against_peak(rate) else rate.fraction_of_bandwidth
    )


def _bound(line: Line) -> str:
    bound = line.placement.bound
    if bound is None:
        return units.ABSENT
    return bound.value if line.placement.primary is not None else f"({bound.value})"


def _registers(line: Line) -> str:
    report = line.measurement.report
    if report is not None:
        return units.count(report.registers)
    resources = line.measurement.resources
    return units.count(None if resources is None else resources.registers)


def _spills(line: Line) -> str:
    resources = line.measurement.resources
    return units.count(None if resources is None else resources.spill_bytes)
