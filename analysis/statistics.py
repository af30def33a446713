"""What samples say: order statistics, and how sure the median is. Nothing is dropped.

Samples are any finite numbers in any order and unit; results are in the same unit.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from rooflens.errors import UsageError

RATIO_CONFIDENCE = 0.975  # of each median, so that both hold with 0.95
TAIL_ROUNDING = 1e-9  # relative, of a tail by logarithms of factorials at 10^6 samples
NEGLIGIBLE = 1e-17


def median(samples: Iterable[float]) -> float:
    """The middle sample, or the mean of the middle two."""
    return percentile(samples, 50)


def percentile(samples: Iterable[float], percent: float) -> float:
    """The value below which `percent` (0 to 100) of the samples lie, interpolated linearly.

    Source: Hyndman and Fan 1996, definition 7, which is NumPy's default.
    """
    if not 0 <= percent <= 100:
        raise UsageError(f"percent must be from 0 to 100, got {percent!r}")
    ordered = _ordered(samples)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    # Rounding must not carry the result past its upper neighbour.
    return min(high, low + (high - low) * (position - below))


def median_interval(
    samples: Iterable[float], confidence: float = 0.95
) -> tuple[float, float] | None:
    """An interval that holds the true median with at least `confidence`, for any distribution.

    Samples must be independent. None where there are too few of them (under 6 for 95 %). See
    `interval_ranks`.
    """
    ordered = _ordered(samples)
    ranks = interval_ranks(len(ordered), confidence)
    return None if ranks is None else (ordered[ranks[0] - 1], ordered[ranks[1] - 1])


def relative_width(samples: Iterable[float], confidence: float = 0.95) -> float | None:
    """Width of the median's interval over the median; None without interval or above-zero median.

    Comparable to a target such as 0.01 for "within 1 %".
    """
    ordered = _ordered(samples)
    interval = median_interval(ordered, confidence)
    middle = median(ordered)
    return None if interval is None or middle <= 0 else (interval[1] - interval[0]) / middle


def smallest_step(samples: Iterable[float]) -> float:
    """Least difference between two different samples, as a clock's tick; 0 if all are alike."""
    return min((b - a for a, b in pairwise(sorted(set(samples)))), default=0.0)


def ratio_interval(
    numerator: Iterable[float], denominator: Iterable[float]
) -> tuple[float, float] | None:
    """An interval that holds the ratio of two true medians with at least 95 %; samples above zero.

    Each median is in its own 97.5 % interval; one of the two is missed with at most 5 %, whether
    the two sets of samples depend on each other or not (Bonferroni). None where either has too few
    samples (under 7), or the denominator's interval reaches zero.
    """
    above = median_interval(numerator, RATIO_CONFIDENCE)
    below = median_interval(denominator, RATIO_CONFIDENCE)
    if above is None or below is None or below[0] <= 0:
        return None
    return above[0] / below[1], above[1] / below[0]


@lru_cache(maxsize=1024)
def interval_ranks(count: int, confidence: float = 0.95) -> tuple[int, int] | None:
    """Ranks, from 1, of the order statistics that enclose the median; None if `count` is too small.

    The number of samples below the median is binomial(count, 1/2), so the interval from rank r to
    count + 1 - r misses it with probability 2 P(B <= r - 1); r is the largest with that at most
    1 - confidence. Source: David and Nagaraja, Order Statistics, 3rd edition, section 7.1.
    """
    if count < 1:
        raise UsageError(f"the number of samples must be at least 1, got {count}")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, got {confidence!r}")
    # str gives 0.95 as it was written, not as its nearest binary fraction.
    allowed = float((1 - Fraction(str(confidence))) / 2) * (1 + TAIL_ROUNDING)
    fits, beyond = 0, count // 2 + 1  # rank 0 would miss it never
    while beyond - fits > 1:
        rank = (fits + beyond) // 2
        if _lower_tail(count, rank - 1) <= allowed:
            fits = rank
        else:
            beyond = rank
    return None if fits == 0 else (fits, count + 1 - fits)


def _lower_tail(count: int, most: int) -> float:
    """P(B <= most) for B binomial(count, 1/2), most under half: from its largest term down."""
    log_ways = math.lgamma(count + 1) - math.lgamma(most + 1) - math.lgamma(count - most + 1)
    term = total = math.exp(log_ways - count * math.log(2))
    for fewer in range(most, 0, -1):
        term *= fewer / (count - fewer + 1)
        total += term
        if term <= total * NEGLIGIBLE:
            break
    return total


def _ordered(samples: Iterable[float]) -> list[float]:
    ordered = sorted(float(sample) for sample in samples)
    if not ordered:
        raise UsageError("no samples; expected at least one")
    if not all(math.isfinite(sample) for sample in ordered):
        raise UsageError("a sample is NaN or infinite; expected finite numbers")
    return ordered
