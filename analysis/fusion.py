"""What several launches of one kernel pass to each other through memory, that one need not."""

from dataclasses import dataclass

from rooflens.hardware import Ceiling
from rooflens.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionSaving:
    """Traffic that exists only because a kernel is cut into launches; modelled, not measured.

    between_bytes: the launches' compulsory bytes together, less those of the whole: intermediates
    that are written and read again, and inputs that more than one launch reads. fraction: of the
    launches' bytes together. time_s: what it takes at `bandwidth`, where that is known.
    """

    between_bytes: int
    fraction: float
    time_s: float | None
    bandwidth: Ceiling | None


def fusion_saving(measurement: Measurement, bandwidth: Ceiling | None) -> FusionSaving | None:
    """The saving for a kernel of several launches; None for one launch, or without a cost."""
    if measurement.cost is None or len(measurement.launches) < 2:
        return None
    together = sum(one.cost.compulsory.total_bytes for one in measurement.launches)
    between = together - measurement.cost.compulsory.total_bytes
    if together <= 0 or between < 0:
        return None
    return FusionSaving(
        between_bytes=between,
        fraction=between / together,
        time_s=None if bandwidth is None else between / bandwidth.per_s,
        bandwidth=bandwidth,
    )
