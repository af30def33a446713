"""When to stop taking samples."""

from collections.abc import Sequence
from dataclasses import dataclass

from rooflens.analysis.statistics import relative_width
from rooflens.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingPolicy:
    """Stop once the 95 % interval of the median is narrow enough, or the budget is spent.

    target_interval: width of that interval over the median. budget_s: host seconds per kernel and
    cache state; at least `min_samples` are taken whatever they cost, at most `max_samples`.
    """

    target_interval: float = 0.01
    budget_s: float = 1.0
    min_samples: int = 20
    max_samples: int = 2000

    def __post_init__(self) -> None:
        if not 0 < self.target_interval < 1 or self.budget_s < 0:
            raise UsageError(f"target_interval is in (0, 1) and budget_s >= 0, got {self!r}")
        if not 1 <= self.min_samples <= self.max_samples:
            raise UsageError(f"1 <= min_samples <= max_samples, got {self!r}")

    def stopped_by(self, samples_s: Sequence[float], spent_s: float) -> str | None:
        """ "interval", "budget" or "samples" if sampling is over, else None."""
        if len(samples_s) < self.min_samples:
            return None
        width = relative_width(samples_s)
        if width is not None and width <= self.target_interval:
            return "interval"
        if spent_s >= self.budget_s:
            return "budget"
        return "samples" if len(samples_s) >= self.max_samples else None
