"""A launch that another tool reports, under the roofs of its card: by what was counted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rooflens.analysis.placed import Placement, Rate, share
from rooflens.analysis.roof_model import ArithmeticRoof, RoofModel, arithmetic_roof, roof_model
from rooflens.analysis.timed_rate import timed_rate
from rooflens.hardware import Ceiling, HardwareSpec
from rooflens.measurement import Measurement, TimeSamples
from rooflens.precision import Precision
from rooflens.reported import Report, TensorInput
from rooflens.terms import Bound, CacheState, MemoryLevel

# Of equal peaks the first stands for the type, so accumulation in FP32 comes first.
_TENSOR_PEAKS: Mapping[TensorInput, tuple[Precision, ...]] = {
    TensorInput.FP64: (Precision.FP64_TENSOR,),
    TensorInput.TF32: (Precision.TF32_TENSOR,),
    TensorInput.FP16: (Precision.FP16_TENSOR_FP32_ACC, Precision.FP16_TENSOR_FP16_ACC),
    TensorInput.BF16: (Precision.BF16_TENSOR_FP32_ACC,),
    TensorInput.FP8: (Precision.FP8_TENSOR_FP32_ACC, Precision.FP8_TENSOR_FP16_ACC),
    TensorInput.FP4: (Precision.FP4_TENSOR,),
    TensorInput.INT8: (Precision.INT8_TENSOR,),
}
_PIPES = (Precision.FP32, Precision.FP64, Precision.FP16)
_AT_ROOF = 1 + 1e-9
_LEAST_OPERATIONS = 0.5


def place_report(
    measurement: Measurement, report: Report, hardware: HardwareSpec | None
) -> Placement:
    """Intensity is counted operations per byte that went through DRAM, both as reported.

    Where either was not reported, the intensity and the bound are absent, never 0.
    """
    moved = report.traffic_bytes.get(MemoryLevel.DRAM)
    work = _work(report, hardware)
    bandwidth = None if hardware is None else hardware.bandwidths.get(MemoryLevel.DRAM)
    model = _model(work, moved, bandwidth)
    rates = {
        state: _rate(times, model, work.operations, moved)
        for state, times in measurement.times.items()
    }
    return Placement(
        intensity=model.intensity,
        ridge=model.ridge,
        attainable_flops_per_s=model.attainable_flops_per_s,
        time_bound_s=model.time_bound_s,
        precision=work.roof.precision,
        bandwidth=bandwidth,
        peak=work.roof.ceiling,
        model_bound=model.bound,
        rates=rates,
        primary=CacheState.REPORTED if CacheState.REPORTED in rates else None,
        notes=tuple(_notes(report, hardware, work, moved)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """Operations in all (None if no counter of any was reported) and the peak above them."""

    operations: float | None
    roof: ArithmeticRoof
    notes: tuple[str, ...] = ()


def _work(report: Report, hardware: HardwareSpec | None) -> _Work:
    pipes = {
        precision: count
        for precision, count in report.flops.items()
        if precision not in report.not_arithmetic
    }
    if not pipes and not report.tensor_ops:
        return _Work(operations=None, roof=ArithmeticRoof())
    operations = sum(pipes.values()) + sum(report.tensor_ops.values())
    if hardware is None:
        return _Work(operations=operations, roof=ArithmeticRoof())
    if not operations:
        note = "it counts no floating-point operations: placed by its bytes alone"
        return _Work(operations=0.0, roof=ArithmeticRoof(note=note))
    notes: list[str] = []
    counts: dict[Precision, float] = {kind: count for kind, count in pipes.items() if count}
    for kind, total in report.tensor_ops.items():
        told = {
            one: amount
            for one in _TENSOR_PEAKS.get(kind, ())
            if (amount := report.tensor_precisions.get(one, 0.0))
        }
        counts |= told
        count = total - sum(told.values())
        if count < _LEAST_OPERATIONS:
            continue
        precision, remark = _tensor_precision(kind, hardware)
        if remark is not None:
            notes.append(remark)
        if precision is None:
            return _Work(operations=operations, roof=ArithmeticRoof(), notes=tuple(notes))
        counts[precision] = counts.get(precision, 0.0) + count
    return _Work(operations=operations, roof=arithmetic_roof(counts, hardware), notes=tuple(notes))


def _tensor_precision(
    kind: TensorInput, hardware: HardwareSpec
) -> tuple[Precision | None, str | None]:
    """The tensor peak for inputs of this type: the highest, where no report names accumulators."""
    known = [one for one in _TENSOR_PEAKS.get(kind, ()) if one in hardware.peaks]
    if not known:
        return None, f"no {kind} tensor peak is known for {hardware.name}"
    highest = max(known, key=lambda one: hardware.peaks[one].per_s)
    if len({hardware.peaks[one].per_s for one in known}) == 1:
        return highest, None
    return highest, (
        f"its accumulators are not reported: held against the {highest.value} peak, the highest "
        f"for {kind} inputs"
    )


def _model(work: _Work, moved: float | None, bandwidth: Ceiling | None) -> RoofModel:
    if work.operations is None or moved is None:
        ceiling = work.roof.ceiling
        return RoofModel(
            bandwidth_per_s=None if bandwidth is None else bandwidth.per_s,
            peak_per_s=None if ceiling is None else ceiling.per_s,
            intensity=None,
        )
    return roof_model(work.operations, moved, work.roof, bandwidth)


def _rate(
    times: TimeSamples, model: RoofModel, operations: float | None, moved: float | None
) -> Rate:
    timed = timed_rate(times)
    if not timed.resolved:
        return timed
    bytes_per_s = moved / timed.median_s if moved else None
    flops_per_s = operations / timed.median_s if operations else None
    of_peak = share(flops_per_s, model.peak_per_s)
    of_bandwidth = share(bytes_per_s, model.bandwidth_per_s)
    above = _above_roofs(of_peak, of_bandwidth)
    return replace(
        timed,
        achieved_bytes_per_s=bytes_per_s,
        achieved_flops_per_s=flops_per_s,
        fraction_of_bandwidth=of_bandwidth,
        fraction_of_peak=of_peak,
        fraction_of_attainable=share(model.time_bound_s, timed.median_s),
        bound=model.bound if above is None else Bound.SUSPECT,
        note=above,
    )


def _above_roofs(of_peak: float | None, of_bandwidth: float | None) -> str | None:
    """What cannot be right about a rate above a roof; None where it is below both."""
    if of_peak is not None and of_peak > _AT_ROOF:
        return (
            f"computes at {of_peak:.2f} x the arithmetic peak: another card or precision than "
            "taken here, a clock above the listed one, or time and counts of different launches"
        )
    if of_bandwidth is not None and of_bandwidth > _AT_ROOF:
        return (
            f"moves its counted DRAM bytes at {of_bandwidth:.2f} x the bandwidth: another card "
            "than taken here, or time and counts of different launches"
        )
    return None


def _notes(
    report: Report, hardware: HardwareSpec | None, work: _Work, moved: float | None
) -> Iterator[str]:
    yield from work.notes
    if work.roof.note is not None:
        yield work.roof.note
    if hardware is None:
        yield "no roofs: the card is unknown"
    elif MemoryLevel.DRAM not in hardware.bandwidths:
        yield f"no DRAM bandwidth is known for {hardware.name}"
    if "time" in report.absent:
        yield f"no time: {report.absent['time']}"
    if moved is None:
        yield f"DRAM bytes unknown: {report.absent.get('dram bytes', 'not reported')}"
    elif not moved:
        yield "the report counts no DRAM bytes: placed by its operations alone"
    if work.operations is None:
        yield f"operations unknown: {report.absent.get('fp32 FLOP', 'not reported')}"
    elif missing := [one for one in _PIPES if one not in report.flops]:
        listed = ", ".join(one.value for one in missing)
        yield f"operations of {listed} were not counted and are not in its intensity"
