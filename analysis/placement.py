"""A measurement on the roofline of a card: what it reaches, of what, and what bounds it."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rooflens.analysis import roofline
from rooflens.analysis.bound import Footprint, judge
from rooflens.analysis.statistics import median, median_interval, percentile
from rooflens.cost import Cost
from rooflens.hardware import Ceiling, HardwareSpec
from rooflens.measurement import Measurement, TimeSamples
from rooflens.precision import Precision
from rooflens.terms import Bound, CacheState, MemoryLevel, Status
from rooflens.units import seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """What a kernel reached in one cache state.

    interval95: 95 % interval of the median, None with too few samples. Rates are the compulsory
    bytes and the definition's operations over the median. fraction_of_bandwidth is of the
    placement's `bandwidth`, fraction_of_peak of its `peak`, fraction_of_attainable of its
    `attainable_flops_per_s` (the same number as time bound over median). All are None where the
    time is not resolved or the roof unknown; `note` says why, or explains the bound.
    """

    median_s: float
    p10_s: float
    p90_s: float
    samples: int
    interval95: tuple[float, float] | None
    resolved: bool
    achieved_bytes_per_s: float | None = None
    achieved_flops_per_s: float | None = None
    fraction_of_bandwidth: float | None = None
    fraction_of_peak: float | None = None
    fraction_of_attainable: float | None = None
    bound: Bound | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a kernel stands under a card's roofs.

    intensity: FLOP per compulsory byte; None without operations or without traffic. precision: the
    arithmetic whose peak binds. bandwidth and peak: the ceilings that the fractions are of.
    model_bound: the side of the ridge, from the cost alone. primary: the state that the summary
    takes: cold if measured, since only a cold run must go to DRAM, else hot, else none. notes say
    why something is absent.
    """

    intensity: float | None = None
    ridge: float | None = None
    attainable_flops_per_s: float | None = None
    time_bound_s: float | None = None
    precision: Precision | None = None
    bandwidth: Ceiling | None = None
    peak: Ceiling | None = None
    model_bound: Bound | None = None
    rates: Mapping[CacheState, Rate] = field(default_factory=dict)
    primary: CacheState | None = None
    notes: tuple[str, ...] = ()

    @property
    def primary_rate(self) -> Rate | None:
        """The rate of the primary cache state."""
        return None if self.primary is None else self.rates[self.primary]

    @property
    def bound(self) -> Bound | None:
        """The primary rate's bound; the model's where nothing was timed."""
        rate = self.primary_rate
        return self.model_bound if rate is None else rate.bound


def place(measurement: Measurement, hardware: HardwareSpec) -> Placement:
    """Place a measurement under the roofs of the card that it ran on, or is modelled for.

    Only an OK row is placed, and its times count only if its result was verified.
    """
    if measurement.status is not Status.OK:
        return Placement(notes=(f"not placed: {measurement.status} ({measurement.reason})",))
    cost = measurement.cost
    if cost is None:
        return Placement(notes=("not placed: its operations and bytes are unknown",))
    arithmetic = _arithmetic_roof(cost.flops, hardware)
    bandwidth = hardware.bandwidths.get(MemoryLevel.DRAM)
    model = _model(cost, arithmetic, bandwidth)
    footprint = Footprint(
        compulsory=cost.compulsory,
        working_set_bytes=measurement.working_set_bytes,
        l2_bytes=hardware.l2_bytes,
    )
    flops = sum(cost.flops.values())
    rates = {
        state: _rate(state, times, model, flops, footprint)
        for state, times in measurement.times.items()
        if _verified(measurement)
    }
    notes = [] if arithmetic.note is None else [arithmetic.note]
    if bandwidth is None:
        notes.append(f"no DRAM bandwidth is known for {hardware.name}")
    if not cost.compulsory.total_bytes:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArithmeticRoof:
    precision: Precision | None = None
    ceiling: Ceiling | None = None
    note: str | None = None


def _arithmetic_roof(flops: Mapping[Precision, int], hardware: HardwareSpec) -> _ArithmeticRoof:
    """The peak that a mix of operations can reach, and the precision that sets it.

    Tensor precisions share the tensor units, so their times at peak add up. The ordinary pipes and
    the tensor units work side by side, so the busiest of them bounds the whole: a sum over all of
    them would be no roof, since a kernel that overlaps them can beat it. The mix's peak is all
    operations over the busiest unit's time; for one precision it is that precision's ceiling.
    """
    counts = {precision: count for precision, count in flops.items() if count > 0}
    if not counts:
        return _ArithmeticRoof(note="no operations counted: placed by its bytes alone")
    unknown = [precision.value for precision in counts if precision not in hardware.peaks]
    most = max(counts, key=lambda precision: counts[precision])
    if unknown:
        note = f"no {' and '.join(unknown)} peak is known for {hardware.name}"
        return _ArithmeticRoof(precision=most, note=note)
    if len(counts) == 1:
        return _ArithmeticRoof(precision=most, ceiling=hardware.peaks[most])
    times = {
        precision: roofline.arithmetic_time(count, hardware.peaks[precision].per_s)
        for precision, count in counts.items()
    }
    units = {
        unit: tuple(members)
        for unit, members in itertools.groupby(sorted(times, key=_unit), key=_unit)
    }
    busiest = max(units.values(), key=lambda members: sum(times[one] for one in members))
    binding = max(busiest, key=lambda precision: times[precision])
    ceiling = hardware.peaks[binding]
    others = " and ".join(precision.value for precision in counts if precision is not binding)
    mixed = Ceiling(
        per_s=sum(counts.values()) / sum(times[one] for one in busiest),
        basis=ceiling.basis,
        source=f"{ceiling.source}: {binding.value} peak, for its mix with {others}",
    )
    return _ArithmeticRoof(precision=binding, ceiling=mixed)


def _unit(precision: Precision) -> str:
    return "tensor" if "_tensor" in precision.value else precision.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """What the cost says before any time is known."""

    bandwidth_per_s: float | None
    peak_per_s: float | None
    intensity: float | None
    ridge: float | None = None
    attainable_flops_per_s: float | None = None
    time_bound_s: float | None = None
    bound: Bound | None = None


def _model(cost: Cost, arithmetic: _ArithmeticRoof, bandwidth: Ceiling | None) -> _Model:
    flops, moved = sum(cost.flops.values()), cost.compulsory.total_bytes
    bandwidth_per_s = None if bandwidth is None else bandwidth.per_s
    peak_per_s = None if arithmetic.ceiling is None else arithmetic.ceiling.per_s
    intensity = roofline.intensity(flops, moved) if flops and moved else None
    known = _Model(bandwidth_per_s=bandwidth_per_s, peak_per_s=peak_per_s, intensity=intensity)
    if not flops:
        return _without_operations(known, moved)
    if not moved:
        return _without_traffic(known, flops)
    if intensity is None or bandwidth_per_s is None or peak_per_s is None:
        return known
    ridge = roofline.ridge(peak_per_s, bandwidth_per_s)
    return replace(
        known,
        ridge=ridge,
        attainable_flops_per_s=roofline.attainable(intensity, peak_per_s, bandwidth_per_s),
        time_bound_s=roofline.time_bound(flops, moved, peak_per_s, bandwidth_per_s),
        bound=Bound.MEMORY if intensity < ridge else Bound.COMPUTE,
    )


def _without_operations(known: _Model, moved: int) -> _Model:
    """A copy and its like: DRAM is the only roof."""
    if not moved or known.bandwidth_per_s is None:
        return known
    return replace(
        known,
        time_bound_s=roofline.transfer_time(moved, known.bandwidth_per_s),
        bound=Bound.MEMORY,
    )


def _without_traffic(known: _Model, flops: int) -> _Model:
    """Work on registers alone: the peak is the only roof."""
    if known.peak_per_s is None:
        return known
    return replace(
        known,
        attainable_flops_per_s=known.peak_per_s,
        time_bound_s=roofline.arithmetic_time(flops, known.peak_per_s),
        bound=Bound.COMPUTE,
    )


def _rate(
    state: CacheState, times: TimeSamples, model: _Model, flops: int, footprint: Footprint
) -> Rate:
    middle = median(times.samples_s)
    timed = Rate(
        median_s=middle,
        p10_s=percentile(times.samples_s, 10),
        p90_s=percentile(times.samples_s, 90),
        samples=len(times.samples_s),
        interval95=median_interval(times.samples_s),
        resolved=middle > times.resolution_s,
    )
    if not timed.resolved:
        note = (
            f"the median, {seconds(middle)}, is not above what the method can tell apart, "
            f"{seconds(times.resolution_s)}: no rates"
        )
        return replace(timed, note=note)
    moved = footprint.compulsory.total_bytes
    bytes_per_s = moved / middle if moved else None
    flops_per_s = flops / middle if flops else None
    of_peak = _fraction(flops_per_s, model.peak_per_s)
    of_bandwidth = _fraction(bytes_per_s, model.bandwidth_per_s)
    verdict = judge(
        state=state,
        median_s=middle,
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
        fraction_of_attainable=_fraction(model.time_bound_s, middle),
        bound=verdict.bound,
        note=verdict.note,
    )


def _fraction(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None else part / whole
