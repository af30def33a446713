"""What the tests on a card share: quick timing, and what a right and a refused row look like."""

from rooflens.measurement import Measurement
from rooflens.profiler.device import RunOptions
from rooflens.profiler.timing import TimingPolicy
from rooflens.terms import CacheState, Status

QUICK = RunOptions(timing=TimingPolicy(budget_s=0.02, min_samples=3, max_samples=10))


def assert_right_and_timed(row: Measurement) -> None:
    """The row verified, and has times above zero in both cache states."""
    assert row.status is Status.OK, row.reason
    assert row.verification is not None
    assert row.verification.passed
    for state in CacheState:
        assert min(row.times[state].samples_s) > 0


def assert_refused(row: Measurement) -> None:
    """The row failed its check and was not timed."""
    assert row.status is Status.FAILED
    assert row.verification is not None
    assert not row.verification.passed
    assert not row.times
