"""Order statistics: values worked by hand, NumPy as a witness, and simulated coverage."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.statistics import (
    interval_ranks,
    median,
    median_interval,
    percentile,
    ratio_interval,
    relative_width,
    smallest_step,
)
from rooflens.errors import UsageError

SAMPLES = st.lists(st.floats(min_value=-1e9, max_value=1e9), min_size=1, max_size=60)


def test_median_by_hand() -> None:
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5
    assert median([7.0]) == percentile([7.0], 10) == percentile([7.0], 90) == 7.0


def test_percentiles_by_hand() -> None:
    samples = [float(value) for value in range(1, 12)]
    assert percentile(samples, 10) == 2.0
    assert percentile(samples, 90) == 10.0
    assert percentile([0.0, 10.0], 25) == 2.5
    assert percentile(samples, 0) == 1.0
    assert percentile(samples, 100) == 11.0


@given(SAMPLES, st.floats(min_value=0, max_value=100))
def test_percentile_agrees_with_numpy(samples: list[float], percent: float) -> None:
    witness = float(np.percentile(np.array(samples), percent))
    assert percentile(samples, percent) == pytest.approx(witness, rel=1e-9, abs=1e-6)
    assert min(samples) <= percentile(samples, percent) <= max(samples)


@given(SAMPLES, st.randoms(use_true_random=False))
def test_order_of_samples_does_not_matter(samples: list[float], shuffler: random.Random) -> None:
    shuffled = list(samples)
    shuffler.shuffle(shuffled)
    assert median(shuffled) == median(samples)
    assert percentile(shuffled, 90) == percentile(samples, 90)
    assert median_interval(shuffled) == median_interval(samples)
    assert relative_width(shuffled) == relative_width(samples)


def test_numpy_arrays_are_taken_and_python_floats_returned() -> None:
    samples = np.arange(20, dtype=np.float64)
    assert type(median(samples)) is float
    interval = median_interval(samples)
    assert interval is not None
    assert [type(edge) for edge in interval] == [float, float]


@pytest.mark.parametrize(
    ("count", "ranks"),
    # From the binomial table: P(B <= 5) = 0.0207 and P(B <= 6) = 0.0577 for n = 20, and so on.
    [(6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15)), (100, (40, 61))],
)
def test_ranks_of_the_published_tables(count: int, ranks: tuple[int, int]) -> None:
    assert interval_ranks(count) == ranks


def test_interval_of_twenty_is_the_sixth_and_the_fifteenth() -> None:
    assert median_interval([float(value) for value in range(20, 0, -1)]) == (6.0, 15.0)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_too_few_samples_have_no_interval(count: int) -> None:
    samples = [float(value) for value in range(1, count + 1)]
    assert interval_ranks(count) is None
    assert median_interval(samples) is None
    assert relative_width(samples) is None


@given(st.integers(min_value=1, max_value=400), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_ranks_are_the_narrowest_with_the_confidence(count: int, confidence: float) -> None:
    def miss(rank: int) -> Fraction:
        return Fraction(2 * sum(math.comb(count, below) for below in range(rank)), 2**count)

    allowed = 1 - Fraction(str(confidence))
    ranks = interval_ranks(count, confidence)
    rank = 0 if ranks is None else ranks[0]
    assert ranks is None or ranks == (rank, count + 1 - rank)
    assert rank <= (count + 1) / 2
    assert miss(rank) <= allowed
    assert miss(rank + 1) > allowed


@pytest.mark.parametrize("count", [10_001, 1_000_000])
def test_ranks_of_many_samples_are_those_of_the_normal_distribution(count: int) -> None:
    ranks = interval_ranks(count)
    assert ranks is not None
    # rank - 1 is at most count / 2 - 1.96 sqrt(count) / 2, but for the step from one to the next.
    assert ranks[0] == pytest.approx(count / 2 + 0.5 - 1.959964 * math.sqrt(count) / 2, abs=1.0)


def test_interval_of_a_ratio_by_hand() -> None:
    # 7 samples: all of them, since 2 / 2^7 = 0.0156; 6 would miss with 0.031, over 0.025.
    assert ratio_interval(range(7, 14), range(1, 8)) == (7 / 7, 13 / 1)
    assert ratio_interval(range(7, 13), range(1, 8)) is None
    assert ratio_interval(range(7, 14), range(1, 7)) is None
    assert ratio_interval(range(7, 14), range(7)) is None  # the denominator may be 0


@pytest.mark.parametrize("dependent", [False, True])
def test_simulated_coverage_of_a_ratio(dependent: bool) -> None:
    generator = np.random.default_rng(20090402)
    trials, held = 1000, 0
    for _ in range(trials):
        above = generator.exponential(2.0, 25)
        below = 8.0 / above if dependent else generator.exponential(1.0, 25)
        truth = 2.0 * math.log(2.0) / (4.0 / math.log(2.0) if dependent else math.log(2.0))
        interval = ratio_interval(above, below)
        assert interval is not None
        held += interval[0] <= truth <= interval[1]
    assert held >= 0.95 * trials


def test_confidence_is_read_as_written() -> None:
    # n = 6: the whole range misses with probability 2/64 = 0.03125 exactly.
    assert interval_ranks(6, 0.96875) == (1, 6)
    assert interval_ranks(6, 0.9688) is None


@pytest.mark.parametrize("count", [6, 20, 75])
def test_simulated_coverage_of_a_skewed_distribution(count: int) -> None:
    generator = np.random.default_rng(20090401)
    truth = math.log(2.0)
    trials = 2000
    held = 0
    for _ in range(trials):
        interval = median_interval(generator.exponential(1.0, count))
        assert interval is not None
        held += interval[0] <= truth <= interval[1]
    rank = (interval_ranks(count) or (0, 0))[0]
    exact = 1 - 2 * sum(math.comb(count, below) for below in range(rank)) / 2**count
    assert held / trials == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / trials))


def test_relative_width_by_hand() -> None:
    assert relative_width([10.0] * 20) == 0.0
    # Sixth and fifteenth of 91..110 are 96 and 105; the median is 100.5.
    assert relative_width(np.arange(91.0, 111.0)) == pytest.approx(9 / 100.5)
    assert relative_width([0.0] * 20) is None
    assert relative_width([-1.0] * 20) is None


@pytest.mark.parametrize("bad", [[], [1.0, math.nan], [math.inf, 1.0]])
def test_samples_that_are_none_are_refused(bad: list[float]) -> None:
    for function in (median, median_interval, relative_width):
        with pytest.raises(UsageError, match="sample"):
            function(bad)


def test_arguments_out_of_range_are_refused() -> None:
    with pytest.raises(UsageError, match="percent"):
        percentile([1.0], 101)
    with pytest.raises(UsageError, match="percent"):
        percentile([1.0], math.nan)
    with pytest.raises(UsageError, match="confidence"):
        interval_ranks(20, 95)
    with pytest.raises(UsageError, match="number of samples"):
        interval_ranks(0)


def test_the_smallest_step_by_hand() -> None:
    assert smallest_step([7.0, 3.0, 3.0, 5.5]) == 1.5
    assert smallest_step([3.0, 3.0]) == 0.0
    assert smallest_step([]) == 0.0
