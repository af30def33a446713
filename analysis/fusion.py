"""What several launches of one kernel pass to each other through memory, that one need not."""

from dataclasses import dataclass

from rooflens.cost import Traffic
from rooflens.hardware import Ceiling
from rooflens.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionSaving:
    """Traffic that exists only because a kernel is cut into launches; modelled, not measured.

    between: the launches' compulsory traffic together, less that of the whole: intermediates that
    are written and read again, and inputs that more than one launch reads (a record does not tell
    these apart). fraction: its share of the launches' compulsory bytes together. time_s: what it
    takes at `bandwidth`, where that is known. over_compulsory_bytes: what all launches as written
    ask for, less the compulsory bytes of the whole: `between` and what launches ask for repeatedly.
    """

    between: Traffic
    fraction: float
    time_s: float | None
    bandwidth: Ceiling | None
    over_compulsory_bytes: int


def fusion_saving(measurement: Measurement, bandwidth: Ceiling | None) -> FusionSaving | None:
    """The saving for a kernel of several launches; None for one launch, or without a cost.

    None too where the launches together need less than the whole, which no saving can be read from.
    """
    if measurement.cost is None or len(measurement.launches) < 2:
        return None
    costs = [one.cost for one in measurement.launches]
    whole = measurement.cost.compulsory
    read = sum(one.compulsory.read_bytes for one in costs) - whole.read_bytes
    written = sum(one.compulsory.write_bytes for one in costs) - whole.write_bytes
    together = sum(one.compulsory.total_bytes for one in costs)
    if together <= 0 or read < 0 or written < 0:
        return None
    between = Traffic(read_bytes=read, write_bytes=written)
    return FusionSaving(
        between=between,
        fraction=between.total_bytes / together,
        time_s=None if bandwidth is None else between.total_bytes / bandwidth.per_s,
        bandwidth=bandwidth,
        over_compulsory_bytes=sum(one.issued.total_bytes for one in costs) - whole.total_bytes,
    )
