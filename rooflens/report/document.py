"""A run as the JSON document that other programs read, schema version 1.

It is the run's record (`codec.encode_run`) with derived numbers beside it. run.json holds this
same document; reading a run takes the record alone and derives the rest again.
"""

from typing import Any

from rooflens.analysis import roofline
from rooflens.analysis.fusion import fusion_saving
from rooflens.analysis.placed import Placement, Rate
from rooflens.analysis.placement import place
from rooflens.codec import encode_run
from rooflens.codec.encode import encode_card, encode_ceiling, refuse_not_finite
from rooflens.hardware import Ceiling, HardwareSpec
from rooflens.measurement import Measurement
from rooflens.run import Run
from rooflens.terms import Basis, CacheState, MemoryLevel

Document = dict[str, Any]


def document(run: Run) -> Document:
    """The document of a run: plain values, None where something is absent.

    In SI base units, with fractions from 0 to 1. At the top of a result, rates, fractions and bound
    are those of the cache state named `cache_state`. UsageError names a number that is not finite.
    """
    record = encode_run(run)
    if run.hardware is not None:
        record["device"] |= device_document(run.hardware)
    record["results"] = [
        _with_placement(result, place(measurement, run.hardware))
        | {"fusion": _fusion(measurement, run.hardware)}
        for result, measurement in zip(record["results"], run.measurements, strict=True)
    ]
    refuse_not_finite(record, "")
    return record


def device_document(hardware: HardwareSpec) -> Document:
    """A card as in a run's document, less its `kind`, which belongs to a run."""
    return {**encode_card(hardware), "ridge_flop_per_byte": _ridges(hardware)}


def _ridges(hardware: HardwareSpec) -> Document:
    """By precision: its peak over DRAM bandwidth, of the bases that those two ceilings have."""
    bandwidth = hardware.bandwidths.get(MemoryLevel.DRAM)
    if bandwidth is None:
        return {}
    return {
        precision.value: roofline.ridge(peak.per_s, bandwidth.per_s)
        for precision, peak in hardware.peaks.items()
    }


def _with_placement(result: Document, placement: Placement) -> Document:
    times = {
        state: {**_rate_or_absent(placement.rates.get(CacheState(state))), **entry}
        for state, entry in result["time"].items()
    }
    primary = placement.primary_rate
    return {
        **result,
        "time": times,
        "intensity": placement.intensity,
        "ridge_flop_per_byte": placement.ridge,
        "attainable_flops_per_s": placement.attainable_flops_per_s,
        "time_bound_s": placement.time_bound_s,
        "precision": None if placement.precision is None else placement.precision.value,
        "bandwidth_ceiling": _ceiling(placement.bandwidth),
        "peak_ceiling": _ceiling(placement.peak),
        "cache_state": None if placement.primary is None else placement.primary.value,
        **_reached(primary),
        "bound": None if placement.bound is None else placement.bound.value,
        "bound_note": None if primary is None else primary.note,
        "model_bound": None if placement.model_bound is None else placement.model_bound.value,
        "placement_notes": list(placement.notes),
    }


def _fusion(measurement: Measurement, hardware: HardwareSpec | None) -> Document | None:
    bandwidth = None if hardware is None else hardware.bandwidths.get(MemoryLevel.DRAM)
    saving = fusion_saving(measurement, bandwidth)
    if saving is None:
        return None
    return {
        "basis": Basis.MODELLED.value,
        "between_bytes": saving.between.total_bytes,
        "between_read_bytes": saving.between.read_bytes,
        "between_write_bytes": saving.between.write_bytes,
        "over_compulsory_bytes": saving.over_compulsory_bytes,
        "fraction": saving.fraction,
        "time_s": saving.time_s,
        "bandwidth_ceiling": _ceiling(saving.bandwidth),
    }


def _rate_or_absent(rate: Rate | None) -> Document:
    """What the samples of one cache state say; all absent where the row was not placed."""
    interval = None if rate is None else rate.interval95
    return {
        "median_s": None if rate is None else rate.median_s,
        "p10_s": None if rate is None else rate.p10_s,
        "p90_s": None if rate is None else rate.p90_s,
        "interval95_s": None if interval is None else list(interval),
        "resolved": None if rate is None else rate.resolved,
        **_reached(rate),
        "bound": None if rate is None or rate.bound is None else rate.bound.value,
        "note": None if rate is None else rate.note,
    }


def _reached(rate: Rate | None) -> Document:
    return {
        "achieved_bytes_per_s": None if rate is None else rate.achieved_bytes_per_s,
        "achieved_flops_per_s": None if rate is None else rate.achieved_flops_per_s,
        "fraction_of_bandwidth": None if rate is None else rate.fraction_of_bandwidth,
        "fraction_of_peak": None if rate is None else rate.fraction_of_peak,
        "fraction_of_attainable": None if rate is None else rate.fraction_of_attainable,
    }


def _ceiling(ceiling: Ceiling | None) -> Document | None:
    return None if ceiling is None else encode_ceiling(ceiling)
