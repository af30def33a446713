"""Run -> plain dicts, lists, strings and numbers, with absent as None.

The shape is that of run.json (schema version 1), less what needs analysis to be known. Totals that
follow from the record alone (bytes read plus written, threads, largest resources) are included for
other readers; `decode_run` ignores them.
"""

import math
from collections.abc import Mapping
from typing import Any

from rooflens.codec.encode_report import encode_report
from rooflens.cost import Cost
from rooflens.errors import UsageError
from rooflens.hardware import Ceiling, HardwareSpec, LaunchLimits
from rooflens.measurement import LaunchRecord, Measurement, Resources, TimeSamples, Verification
from rooflens.run import SCHEMA_VERSION, Calibration, Provenance, Run

Plain = dict[str, Any]


def encode_run(run: Run) -> Plain:
    """The run's record without its raw samples, of which it holds the count.

    UsageError names the place of a number that is not finite: JSON has no word for it.
    """
    record = {
        "schema_version": SCHEMA_VERSION,
        "device": _device(run),
        "provenance": _provenance(run.provenance),
        "results": [_result(measurement) for measurement in run.measurements],
    }
    refuse_not_finite(record, "")
    for index, measurement in enumerate(run.measurements):
        for state, times in measurement.times.items():
            refuse_not_finite(list(times.samples_s), f"results[{index}].time.{state}.samples")
    return record


def refuse_not_finite(value: object, place: str) -> None:
    """UsageError naming the first NaN or infinity in plain data; `place` is where `value` is."""
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(
            f"{place}: got {value}, expected a finite number; what is not known must be absent"
        )
    if isinstance(value, Mapping):
        for name, entry in value.items():
            refuse_not_finite(entry, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            refuse_not_finite(entry, f"{place}[{index}]")


def _device(run: Run) -> Plain:
    """The card, or its absence: a `kind` and no name."""
    if run.hardware is None:
        return {"name": None, "kind": run.device_kind}
    return {"name": run.hardware.name, "kind": run.device_kind, **encode_card(run.hardware)}


def encode_ceiling(ceiling: Ceiling) -> Plain:
    """A peak rate with its basis and source."""
    return {"per_s": ceiling.per_s, "basis": ceiling.basis.value, "source": ceiling.source}


def encode_card(hardware: HardwareSpec) -> Plain:
    """A card as the driver or the table describes it, with each ceiling's basis and source."""
    major, minor = hardware.compute_capability
    return {
        "name": hardware.name,
        "uuid": hardware.driver_uuid,
        "architecture": hardware.architecture,
        "compute_capability": f"{major}.{minor}",
        "sm_count": hardware.limits.sm_count,
        "limits": _limits(hardware.limits),
        "clocks": {"sm_hz": hardware.sm_clock_hz},
        "dram_bytes": hardware.dram_bytes,
        "l2_bytes": hardware.l2_bytes,
        "bandwidths": {
            level.value: encode_ceiling(ceiling) for level, ceiling in hardware.bandwidths.items()
        },
        "peaks": {
            precision.value: encode_ceiling(ceiling)
            for precision, ceiling in hardware.peaks.items()
        },
        "sources": dict(hardware.sources),
        "notes": list(hardware.notes),
    }


def _limits(limits: LaunchLimits) -> Plain:
    return {
        "shared_bytes_per_block": limits.shared_bytes_per_block,
        "threads_per_block": limits.threads_per_block,
        "shared_bytes_per_sm": limits.shared_bytes_per_sm,
        "threads_per_sm": limits.threads_per_sm,
        "blocks_per_sm": limits.blocks_per_sm,
        "registers_per_sm": limits.registers_per_sm,
        "reserved_shared_bytes_per_block": limits.reserved_shared_bytes_per_block,
    }


def _provenance(provenance: Provenance) -> Plain:
    calibration = provenance.calibration
    return {
        "created_utc": provenance.created_utc,
        "rooflens_version": provenance.rooflens_version,
        "git_revision": provenance.git_revision,
        "python_version": provenance.python_version,
        "platform": provenance.platform,
        "driver_version": provenance.driver_version,
        "driver_cuda_version": provenance.driver_cuda_version,
        "nvrtc_version": provenance.nvrtc_version,
        "cuda_bindings_version": provenance.cuda_bindings_version,
        "cuda_core_version": provenance.cuda_core_version,
        "headers": provenance.headers,
        "arguments": list(provenance.arguments),
        "calibration": None if calibration is None else _calibration(calibration),
        "notes": list(provenance.notes),
    }


def _calibration(calibration: Calibration) -> Plain:
    return {
        "cold_clock": calibration.cold_clock.value,
        "empty_graph_s": calibration.empty_graph_s,
        "hot_constant_s": calibration.hot_constant_s,
        "cold_first_s": calibration.cold_first_s,
        "cold_following_s": calibration.cold_following_s,
        "resolution_s": calibration.resolution_s,
        "samples": calibration.samples,
    }


def _result(measurement: Measurement) -> Plain:
    plain = _catalogue_result(measurement)
    if measurement.report is not None:
        plain |= encode_report(measurement.report)
    return plain


def _catalogue_result(measurement: Measurement) -> Plain:
    verification, dtype = measurement.verification, measurement.dtype
    return {
        "kernel": measurement.kernel,
        "family": measurement.family,
        "variant": measurement.variant,
        "dtype": None if dtype is None else dtype.value,
        "size": dict(measurement.size),
        "status": measurement.status.value,
        "reason": measurement.reason,
        "basis": measurement.basis.value,
        "architecture": measurement.architecture,
        "source_hash": measurement.source_hash,
        "verification": None if verification is None else _verification(verification),
        "time": {state.value: _times(times) for state, times in measurement.times.items()},
        "resources": _resources(measurement.resources),
        **_cost(measurement.cost),
        "working_set_bytes": measurement.working_set_bytes,
        "launches": [_launch(launch) for launch in measurement.launches],
        "notes": list(measurement.notes),
    }


def _verification(verification: Verification) -> Plain:
    return {
        "passed": verification.passed,
        "max_abs_error": verification.max_abs_error,
        "relative_l2_error": verification.relative_l2_error,
        "absolute_tolerance": verification.absolute_tolerance,
        "relative_tolerance": verification.relative_tolerance,
        "tolerance_reason": verification.tolerance_reason,
        "failure": verification.failure,
    }


def _times(times: TimeSamples) -> Plain:
    return {
        "samples": len(times.samples_s),
        "method": times.method,
        "launches_per_sample": times.launches_per_sample,
        "correction_s": times.correction_s,
        "resolution_s": times.resolution_s,
        "stopped_by": times.stopped_by,
    }


def _cost(cost: Cost | None) -> Plain:
    if cost is None:
        return {"flops": None, "special_function_ops": None, "bytes": None}
    return {
        "flops": {precision.value: count for precision, count in cost.flops.items()},
        "special_function_ops": cost.special_function_ops,
        "bytes": {
            "compulsory": cost.compulsory.total_bytes,
            "compulsory_read": cost.compulsory.read_bytes,
            "compulsory_write": cost.compulsory.write_bytes,
            "issued": cost.issued.total_bytes,
            "issued_read": cost.issued.read_bytes,
            "issued_write": cost.issued.write_bytes,
        },
    }


def _launch(launch: LaunchRecord) -> Plain:
    return {
        "entry": launch.entry,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "threads": launch.threads,
        "dynamic_shared_bytes": launch.dynamic_shared_bytes,
        "resources": _resources(launch.resources),
        **_cost(launch.cost),
    }


def _resources(resources: Resources | None) -> Plain | None:
    if resources is None:
        return None
    return {
        "registers": resources.registers,
        "shared_bytes": resources.shared_bytes,
        "spill_bytes": resources.spill_bytes,
        "local_bytes": resources.local_bytes,
    }
