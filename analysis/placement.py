"""A measurement on the roofline of a card: what it reaches, of what, and what bounds it."""

from collections.abc import Mapping
from dataclasses import replace

from rooflens.analysis.bound import Footprint, judge
from rooflens.analysis.placed import Placement, Rate, share
from rooflens.analysis.placement_imported import place_report
from rooflens.analysis.roof_model import RoofModel, arithmetic_roof, roof_model
from rooflens.analysis.timed_rate import timed_rate
from rooflens.hardware import HardwareSpec
from rooflens.measurement import Measurement, TimeSamples
from rooflens.terms import CacheState, MemoryLevel, Status


def place(measurement: Measurement, hardware: HardwareSpec | None) -> Placement:
    """Place a measurement under the roofs of the card that it ran on, or is modelled for.

    Only an OK row is placed, and its times count only if its result was verified, or if another
    tool reports them.
    """
    if measurement.status is not Status.OK:
        return Placement(notes=(f"not placed: {measurement.status} ({measurement.reason})",))
    if measurement.report is not None:
        return place_report(measurement, measurement.report, hardware)
    if hardware is None:
        return Placement(notes=("not placed: the card is unknown",))
    cost = measurement.cost
    if cost is None:
        return Placement(notes=("not placed: its operations and bytes are unknown",))
    arithmetic = arithmetic_roof(cost.flops, hardware)
    bandwidth = hardware.bandwidths.get(MemoryLevel.DRAM)
    moved = cost.compulsory.total_bytes
    footprint = Footprint(
        compulsory=cost.compulsory,
        working_set_bytes=measurement.working_set_bytes,
        l2_bytes=hardware.l2_bytes,
    )
    flops = sum(cost.flops.values())
    model = roof_model(flops, moved, arithmetic, bandwidth)
    rates = {
        state: _rate(state, times, model, flops, footprint)
        for state, times in measurement.times.items()
        if _verified(measurement)
    }
    notes = [] if arithmetic.note is None else [arithmetic.note]
    if bandwidth is None:
        notes.append(f"no DRAM bandwidth is known for {hardware.name}")
    if not moved:
        notes.append("no compulsory traffic: placed by its operations alone")
    if not rates:
        why = "the result was not verified" if measurement.times else "nothing was timed"
        notes.append(f"no rates: {why}; the bound is the model's")
    if (cold_note := _cold_below_hot(rates)) is not None:
        notes.append(cold_note)
    primary = next((state for state in (CacheState.COLD, CacheState.HOT) if state in rates), None)
    return Placement(
        intensity=model.intensity,
        ridge=model.ridge,
        attainable_flops_per_s=model.attainable_flops_per_s,
        time_bound_s=model.time_bound_s,
        precision=arithmetic.precision,
        bandwidth=bandwidth,
        peak=arithmetic.ceiling,
        model_bound=model.bound,
        rates=rates,
        primary=primary,
        notes=tuple(notes),
    )


def _cold_below_hot(rates: Mapping[CacheState, Rate]) -> str | None:
    """What to make of a cold time that is below the hot one by more than both intervals."""
    cold, hot = rates.get(CacheState.COLD), rates.get(CacheState.HOT)
    if cold is None or hot is None or cold.interval95 is None or hot.interval95 is None:
        return None
    if not (cold.resolved and hot.resolved) or cold.interval95[1] >= hot.interval95[0]:
        return None
    return (
        "the cold median is below the hot one: a cold time ends with the kernel, when what it "
        "wrote may still lie in L2; runs back to back may have to wait for it to reach DRAM"
    )


def _verified(measurement: Measurement) -> bool:
    return measurement.verification is not None and measurement.verification.passed


def _rate(
    state: CacheState, times: TimeSamples, model: RoofModel, flops: int, footprint: Footprint
) -> Rate:
    timed = timed_rate(times)
    if not timed.resolved:
        return timed
    moved = footprint.compulsory.total_bytes
    bytes_per_s = moved / timed.median_s if moved else None
    flops_per_s = flops / timed.median_s if flops else None
    of_peak = share(flops_per_s, model.peak_per_s)
    of_bandwidth = share(bytes_per_s, model.bandwidth_per_s)
    verdict = judge(
        state=state,
        median_s=timed.median_s,
        fraction_of_peak=of_peak,
        fraction_of_bandwidth=of_bandwidth,
        footprint=footprint,
        modelled=model.bound,
    )
    return replace(
        timed,
        achieved_bytes_per_s=bytes_per_s,
        achieved_flops_per_s=flops_per_s,
        fraction_of_bandwidth=of_bandwidth,
        fraction_of_peak=of_peak,
        fraction_of_attainable=share(model.time_bound_s, timed.median_s),
        bound=verdict.bound,
        note=verdict.note,
    )
