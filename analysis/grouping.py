"""Imported launches of one kernel as one row: samples joined, counts as means, ratios weighted.

Launches are of one group where kernel, shape, resources, device, ranges and operator are the same.
A count becomes its mean over the launches, so that the whole is the mean times `launches`. What
holds for a share of the time is weighted by it. What would need other weights, which no report
has, is absent with the reason.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from rooflens.measurement import Measurement, TimeSamples
from rooflens.reported import Report
from rooflens.terms import CacheState

K = TypeVar("K")

_OVER_TIME = ("_throughput", "_occupancy")
_NO_WEIGHTS = "shares and ratios of several launches have no mean without their own weights"


def group_launches(measurements: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """A row for each group, in the order of their first launches; other rows stay as they are."""
    groups: dict[Hashable, list[Measurement]] = {}
    for place, one in enumerate(measurements):
        key: Hashable = place if one.report is None else (one.kernel, *_identity(one.report))
        groups.setdefault(key, []).append(one)
    return tuple(
        members[0] if len(members) == 1 else _grouped(members) for members in groups.values()
    )


def _identity(report: Report) -> tuple[Hashable, ...]:
    return (
        report.kernel_name,
        report.grid,
        report.block,
        report.registers,
        report.static_shared_bytes,
        report.dynamic_shared_bytes,
        report.device,
        report.operator,
        report.ranges,
    )


def _grouped(members: Sequence[Measurement]) -> Measurement:
    reports = [one.report for one in members if one.report is not None]
    launches = sum(report.launches for report in reports)
    absent = dict(reports[0].absent)
    first = members[0]
    spent = [_spent(one, report) for one, report in zip(members, reports, strict=True)]
    times, mean_s = _times(members, spent, launches, absent)

    def mean(of: Callable[[Report], Mapping[K, float]]) -> dict[K, float]:
        """Means of counts, of those that all launches have."""
        return {
            key: sum(of(report)[key] * report.launches for report in reports) / launches
            for key in of(reports[0])
            if all(key in of(report) for report in reports)
        }

    def mean_of_one(of: Callable[[Report], float | None]) -> float | None:
        found = [of(report) for report in reports]
        known = [value for value in found if value is not None]
        if len(known) < len(found):
            return None
        weighted = (value * report.launches for value, report in zip(known, reports, strict=True))
        return sum(weighted) / launches

    traffic = mean(lambda report: report.traffic_bytes)
    for level in {level for report in reports for level in report.traffic_bytes} - traffic.keys():
        absent[f"{level} bytes"] = "not all of the launches have it"
    fractions = _over_time([report.fractions for report in reports], spent)
    if any(report.stall_cycles for report in reports) or len(fractions) < len(reports[0].fractions):
        absent["ratios"] = _NO_WEIGHTS
    report = replace(
        reports[0],
        launches=launches,
        process_id=_same(report.process_id for report in reports),
        process_name=_same(report.process_name for report in reports),
        context=_same(report.context for report in reports),
        stream=_same(report.stream for report in reports),
        mean_time_s=mean_s,
        traffic_bytes=traffic,
        dram_read_bytes=mean_of_one(lambda report: report.dram_read_bytes),
        dram_write_bytes=mean_of_one(lambda report: report.dram_write_bytes),
        flops=mean(lambda report: report.flops),
        not_arithmetic=tuple(
            precision
            for precision in reports[0].not_arithmetic
            if all(precision in report.not_arithmetic for report in reports)
        ),
        tensor_ops=mean(lambda report: report.tensor_ops),
        tensor_precisions=mean(lambda report: report.tensor_precisions),
        special_function_instructions=mean_of_one(
            lambda report: report.special_function_instructions
        ),
        fractions=fractions,
        stall_cycles={},
        clocks_hz=_over_time([report.clocks_hz for report in reports], spent, every=True),
        absent=absent,
    )
    return replace(first, times=times, report=report, notes=_notes(members))


def _times(
    members: Sequence[Measurement],
    spent: Sequence[float | None],
    launches: int,
    absent: dict[str, str],
) -> tuple[dict[CacheState, TimeSamples], float | None]:
    """The samples of all launches; or their mean, or neither, with the reason in `absent`."""
    samples = [one.times.get(CacheState.REPORTED) for one in members]
    each = [
        one
        for one, member in zip(samples, members, strict=True)
        if one is not None and member.report and len(one.samples_s) == member.report.launches
    ]
    if len(each) == len(members):
        absent.pop("time", None)
        joined = replace(
            each[0],
            samples_s=tuple(time for one in each for time in one.samples_s),
            resolution_s=max(one.resolution_s for one in each),
        )
        return {CacheState.REPORTED: joined}, None
    known = [seconds for seconds in spent if seconds is not None]
    if len(known) < len(members):
        absent["time"] = "not all of the launches have one"
        return {}, None
    absent["time"] = f"the mean of {launches} launches is told, not their median"
    return {}, sum(known) / launches


def _spent(measurement: Measurement, report: Report) -> float | None:
    """The time of all launches of a row, in seconds."""
    samples = measurement.times.get(CacheState.REPORTED)
    if samples is not None:
        return sum(samples.samples_s) / len(samples.samples_s) * report.launches
    return None if report.mean_time_s is None else report.mean_time_s * report.launches


def _over_time(
    shares: Sequence[Mapping[str, float]], spent: Sequence[float | None], *, every: bool = False
) -> dict[str, float]:
    """Means weighted by time, of those that are shares of it (or of `every` one)."""
    weights = [seconds for seconds in spent if seconds is not None]
    if len(weights) < len(spent) or not sum(weights):
        return {}
    return {
        name: sum(one[name] * weight for one, weight in zip(shares, weights, strict=True))
        / sum(weights)
        for name in shares[0]
        if (every or name.endswith(_OVER_TIME)) and all(name in one for one in shares)
    }


def _same(values: Iterable[str | None]) -> str | None:
    """What all have, or None."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _notes(members: Sequence[Measurement]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for one in members for note in one.notes))
