"""The roofline model's formulas, each in one place.

Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model
for multicore architectures", Communications of the ACM 52(4), 2009.
"""

import math

from rooflens.errors import UsageError


def ridge(peak_flops_per_s: float, bandwidth_bytes_per_s: float) -> float:
    """The intensity in FLOP/byte at which the two roofs meet: peak / bandwidth.

    Below it memory bounds a kernel, above it arithmetic does (Williams, Waterman, Patterson 2009).
    """
    _require_positive("peak", peak_flops_per_s)
    _require_positive("bandwidth", bandwidth_bytes_per_s)
    return peak_flops_per_s / bandwidth_bytes_per_s


def intensity(flops: float, traffic_bytes: float) -> float:
    """Operational intensity in FLOP/byte (Williams, Waterman, Patterson 2009).

    UsageError without traffic, where it is undefined.
    """
    _require_count("flops", flops)
    _require_positive("traffic", traffic_bytes)
    return flops / traffic_bytes


def attainable(
    intensity_flop_per_byte: float, peak_flops_per_s: float, bandwidth_bytes_per_s: float
) -> float:
    """The roof in FLOP/s at an intensity: min(peak, intensity x bandwidth).

    Source: Williams, Waterman, Patterson 2009.
    """
    _require_count("intensity", intensity_flop_per_byte)
    _require_positive("peak", peak_flops_per_s)
    _require_positive("bandwidth", bandwidth_bytes_per_s)
    return min(peak_flops_per_s, intensity_flop_per_byte * bandwidth_bytes_per_s)


def transfer_time(traffic_bytes: float, bandwidth_bytes_per_s: float) -> float:
    """Seconds that the traffic takes at the full bandwidth."""
    _require_count("traffic", traffic_bytes)
    _require_positive("bandwidth", bandwidth_bytes_per_s)
    return traffic_bytes / bandwidth_bytes_per_s


def arithmetic_time(flops: float, peak_flops_per_s: float) -> float:
    """Seconds that the operations take at the peak."""
    _require_count("flops", flops)
    _require_positive("peak", peak_flops_per_s)
    return flops / peak_flops_per_s


def time_bound(
    flops: float, traffic_bytes: float, peak_flops_per_s: float, bandwidth_bytes_per_s: float
) -> float:
    """The least time in seconds: the longer of arithmetic and traffic, which overlap at best.

    It is flops / attainable(intensity), the roofline read as time (Williams, Waterman, Patterson
    2009), and holds without operations too.
    """
    return max(
        arithmetic_time(flops, peak_flops_per_s),
        transfer_time(traffic_bytes, bandwidth_bytes_per_s),
    )


def _require_positive(what: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise UsageError(f"{what} must be a positive finite number, got {value!r}")


def _require_count(what: str, value: float) -> None:
    if not (value >= 0 and math.isfinite(value)):
        raise UsageError(f"{what} must be a finite number of at least 0, got {value!r}")
