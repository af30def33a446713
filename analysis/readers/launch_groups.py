"""Launches of a timeline -> imported measurements: one for all launches that are alike.

A timeline holds thousands of launches of each kernel, with a time each. Launches of one kernel with
the same shape, on the same device, in the same ranges and from the same operator are one row, whose
samples are their times.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rooflens.analysis.readers.kernel_names import short_name
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement, TimeSamples
from rooflens.reported import Report, ReportedDevice, Source
from rooflens.terms import Basis, CacheState, Status

MAX_ROWS = 50_000
_ABSENT = "a timeline holds none"
_QUANTITIES: tuple[str, ...] = (
    "dram bytes",
    "l2 bytes",
    "l1 bytes",
    "fp32 FLOP",
    "fp64 FLOP",
    "fp16 FLOP",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """What launches of one row have in common."""

    kernel_name: str
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    registers: int | None = None
    static_shared_bytes: int | None = None
    dynamic_shared_bytes: int | None = None
    shared_bytes: int | None = None
    device: ReportedDevice = field(default_factory=ReportedDevice)
    process_id: str | None = None
    context: str | None = None
    stream: str | None = None
    operator: str | None = None
    ranges: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Group:
    row: int
    launches: int
    times_s: list[float]


def grouped(
    launches: Iterable[tuple[Alike, int, float | None]],
    *,
    path: str,
    tool: str,
    tool_version: str | None,
    method: str,
    resolution_s: float,
) -> tuple[Measurement, ...]:
    """Rows in the order of their first launch, from (what is alike, place in the file, seconds).

    DataFormatError if there are more rows than MAX_ROWS.
    """
    groups: dict[Alike, _Group] = {}
    for alike, row, time_s in launches:
        group = groups.get(alike)
        if group is None:
            group = groups[alike] = _Group(row=row, launches=0, times_s=[])
            if len(groups) > MAX_ROWS:
                raise DataFormatError(
                    f"more than {MAX_ROWS} different kernels, shapes and ranges; record a shorter "
                    "stretch, or with fewer ranges",
                    path=path,
                )
        group.launches += 1
        if time_s is not None:
            group.times_s.append(time_s)
    return tuple(
        _measurement(
            alike,
            group,
            source=Source(file=path, row=group.row, tool=tool, tool_version=tool_version),
            method=method,
            resolution_s=resolution_s,
        )
        for alike, group in groups.items()
    )


def _measurement(
    alike: Alike, group: _Group, *, source: Source, method: str, resolution_s: float
) -> Measurement:
    absent: dict[str, str] = dict.fromkeys(_QUANTITIES, _ABSENT)
    times = {}
    if group.times_s and any(time > 0 for time in group.times_s):
        times[CacheState.REPORTED] = TimeSamples(
            samples_s=tuple(group.times_s),
            method=method,
            launches_per_sample=1,
            correction_s=0.0,
            resolution_s=resolution_s,
            stopped_by="report",
        )
    else:
        absent["time"] = "the launches have no duration"
    capability = alike.device.compute_capability
    return Measurement(
        kernel=short_name(alike.kernel_name),
        status=Status.OK,
        basis=Basis.IMPORTED,
        architecture=None if capability is None else f"sm_{capability[0]}{capability[1]}",
        times=times,
        report=Report(
            kernel_name=alike.kernel_name,
            source=source,
            device=alike.device,
            grid=alike.grid,
            block=alike.block,
            registers=alike.registers,
            static_shared_bytes=alike.static_shared_bytes,
            dynamic_shared_bytes=alike.dynamic_shared_bytes,
            shared_bytes=alike.shared_bytes,
            process_id=alike.process_id,
            context=alike.context,
            stream=alike.stream,
            operator=alike.operator,
            ranges=alike.ranges,
            launches=group.launches,
            absent=absent,
        ),
    )
