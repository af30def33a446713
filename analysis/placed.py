"""What placing a measurement under the roofs of a card gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rooflens.hardware import Ceiling
from rooflens.precision import Precision
from rooflens.terms import Bound, CacheState


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


def share(part: float | None, whole: float | None) -> float | None:
    """part / whole, or None where either is unknown."""
    return None if part is None or whole is None else part / whole
