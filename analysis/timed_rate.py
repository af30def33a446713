"""Time samples -> the part of a Rate that needs no roof."""

from dataclasses import replace

from rooflens.analysis.placed import Rate
from rooflens.analysis.statistics import median, median_interval, percentile
from rooflens.measurement import TimeSamples
from rooflens.units import seconds


def timed_rate(times: TimeSamples) -> Rate:
    """The median and its spread; where it is not resolved, the note says so."""
    middle = median(times.samples_s)
    timed = Rate(
        median_s=middle,
        p10_s=percentile(times.samples_s, 10),
        p90_s=percentile(times.samples_s, 90),
        samples=len(times.samples_s),
        interval95=median_interval(times.samples_s),
        resolved=middle > times.resolution_s,
    )
    if timed.resolved:
        return timed
    note = (
        f"the median, {seconds(middle)}, is not above what the method can tell apart, "
        f"{seconds(times.resolution_s)}: no rates"
    )
    return replace(timed, note=note)
