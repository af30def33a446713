"""The roofs over a mix of operations and an amount of traffic, before any time is known."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rooflens.analysis import roofline
from rooflens.hardware import Ceiling, HardwareSpec
from rooflens.precision import Precision
from rooflens.terms import Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class ArithmeticRoof:
    """The peak over a mix of operations and the precision that sets it, or why there is none."""

    precision: Precision | None = None
    ceiling: Ceiling | None = None
    note: str | None = None


def arithmetic_roof(flops: Mapping[Precision, float], hardware: HardwareSpec) -> ArithmeticRoof:
    """The peak that a mix of operations can reach, and the precision that sets it.

    Tensor precisions share the tensor units, so their times at peak add up. The ordinary pipes and
    the tensor units work side by side, so the busiest of them bounds the whole: a sum over all of
    them would be no roof, since a kernel that overlaps them can beat it. The mix's peak is all
    operations over the busiest unit's time; for one precision it is that precision's ceiling.
    """
    counts = {precision: count for precision, count in flops.items() if count > 0}
    if not counts:
        return ArithmeticRoof(note="no operations counted: placed by its bytes alone")
    unknown = [precision.value for precision in counts if precision not in hardware.peaks]
    most = max(counts, key=lambda precision: counts[precision])
    if unknown:
        note = f"no {' and '.join(unknown)} peak is known for {hardware.name}"
        return ArithmeticRoof(precision=most, note=note)
    if len(counts) == 1:
        return ArithmeticRoof(precision=most, ceiling=hardware.peaks[most])
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
    return ArithmeticRoof(precision=binding, ceiling=mixed)


def _unit(precision: Precision) -> str:
    return "tensor" if "_tensor" in precision.value else precision.value


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofModel:
    """Where operations and traffic stand, whatever the time. Rates are of the two roofs."""

    bandwidth_per_s: float | None
    peak_per_s: float | None
    intensity: float | None
    ridge: float | None = None
    attainable_flops_per_s: float | None = None
    time_bound_s: float | None = None
    bound: Bound | None = None


def roof_model(
    flops: float, moved_bytes: float, arithmetic: ArithmeticRoof, bandwidth: Ceiling | None
) -> RoofModel:
    """The model of so many operations on so many bytes; what a missing roof leaves is absent."""
    bandwidth_per_s = None if bandwidth is None else bandwidth.per_s
    peak_per_s = None if arithmetic.ceiling is None else arithmetic.ceiling.per_s
    intensity = roofline.intensity(flops, moved_bytes) if flops and moved_bytes else None
    known = RoofModel(bandwidth_per_s=bandwidth_per_s, peak_per_s=peak_per_s, intensity=intensity)
    if not flops:
        return _without_operations(known, moved_bytes)
    if not moved_bytes:
        return _without_traffic(known, flops)
    if intensity is None or bandwidth_per_s is None or peak_per_s is None:
        return known
    ridge = roofline.ridge(peak_per_s, bandwidth_per_s)
    return replace(
        known,
        ridge=ridge,
        attainable_flops_per_s=roofline.attainable(intensity, peak_per_s, bandwidth_per_s),
        time_bound_s=roofline.time_bound(flops, moved_bytes, peak_per_s, bandwidth_per_s),
        bound=Bound.MEMORY if intensity < ridge else Bound.COMPUTE,
    )


def _without_operations(known: RoofModel, moved_bytes: float) -> RoofModel:
    """A copy and its like: DRAM is the only roof."""
    if not moved_bytes or known.bandwidth_per_s is None:
        return known
    return replace(
        known,
        time_bound_s=roofline.transfer_time(moved_bytes, known.bandwidth_per_s),
        bound=Bound.MEMORY,
    )


def _without_traffic(known: RoofModel, flops: float) -> RoofModel:
    """Work on registers alone: the peak is the only roof."""
    if known.peak_per_s is None:
        return known
    return replace(
        known,
        attainable_flops_per_s=known.peak_per_s,
        time_bound_s=roofline.arithmetic_time(flops, known.peak_per_s),
        bound=Bound.COMPUTE,
    )
