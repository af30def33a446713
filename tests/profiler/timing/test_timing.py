"""Timing against a simulated device whose true times are known."""

import pytest

from rooflens.analysis.statistics import median
from rooflens.errors import TimingError, UsageError
from rooflens.profiler.timing import TimingPolicy, calibrate, time_cold, time_hot
from tests.fakes import FakeClock, FakeQueue, FakeWork

EMPTY_S = 0.51e-6
NS = 1e-9


def device(
    event_constant_s: float = 2.94e-6,
    graph_start_s: float = 3e-6,
    call_s: float = 4e-6,
    evict_s: float = 50e-6,
) -> tuple[FakeClock, FakeQueue]:
    clock = FakeClock()
    queue = FakeQueue(
        clock=clock,
        event_constant_s=event_constant_s,
        graph_start_s=graph_start_s,
        call_s=call_s,
        evict_s=evict_s,
    )
    return clock, queue


def test_the_event_constant_of_the_device_is_found() -> None:
    _, queue = device(event_constant_s=2.94e-6)
    calibration = calibrate(queue, FakeWork(queue, (EMPTY_S,)))
    # The graph's start, 3 us over 200 nodes, is all that is left of error: 15 ns.
    assert calibration.event_constant_s == pytest.approx(2.94e-6, abs=16 * NS)
    assert calibration.empty_graph_s == pytest.approx(EMPTY_S, abs=16 * NS)
    assert calibration.samples == 200


def test_calibration_refuses_a_device_whose_pairs_read_shorter_than_its_graphs() -> None:
    _, queue = device(event_constant_s=0.0, graph_start_s=1e-3)
    with pytest.raises(TimingError, match="cannot be calibrated"):
        calibrate(queue, FakeWork(queue, (EMPTY_S,)))


def test_calibration_refuses_work_of_several_launches() -> None:
    _, queue = device()
    with pytest.raises(TimingError, match="single launch, got 2"):
        calibrate(queue, FakeWork(queue, (EMPTY_S, EMPTY_S)))


@pytest.mark.parametrize("true_s", [0.5e-6, 1e-6, 5.7e-6, 32.4e-6, 126e-6, 1e-3, 50e-3])
def test_hot_time_is_within_the_promised_error(true_s: float) -> None:
    clock, queue = device()
    times = time_hot(queue, FakeWork(queue, (true_s,)), TimingPolicy(), clock=clock)
    assert median(times.samples_s) == pytest.approx(true_s, abs=max(0.1e-6, 0.005 * true_s))
    assert times.stopped_by == "interval"
    assert times.correction_s == 0.0


@pytest.mark.parametrize("true_s", [0.5e-6, 1e-6, 9e-6, 497.5e-6, 50e-3])
def test_cold_time_is_the_cold_time_less_the_constant(true_s: float) -> None:
    clock, queue = device(event_constant_s=4.2e-6)
    calibration = calibrate(queue, FakeWork(queue, (EMPTY_S,)))
    work = FakeWork(queue, hot_s=(true_s / 3,), cold_s=(true_s,))
    times = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    assert median(times.samples_s) == pytest.approx(true_s, abs=20 * NS)
    assert times.correction_s == calibration.event_constant_s


def test_every_cold_sample_follows_an_eviction() -> None:
    clock, queue = device()
    calibration = calibrate(queue, FakeWork(queue, (EMPTY_S,)))
    before = queue.evictions
    work = FakeWork(queue, hot_s=(1e-6,), cold_s=(2e-6,))
    times = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    assert queue.evictions - before == len(times.samples_s) + 1  # one run warms up
    assert min(times.samples_s) > 1.9e-6


def test_several_launches_are_summed_without_the_gaps_between_them() -> None:
    clock, queue = device()
    calibration = calibrate(queue, FakeWork(queue, (EMPTY_S,)))
    work = FakeWork(queue, hot_s=(1e-6, 2e-6, 4e-6))
    cold = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    hot = time_hot(queue, work, TimingPolicy(), clock=clock)
    assert median(cold.samples_s) == pytest.approx(7e-6, abs=60 * NS)
    assert median(hot.samples_s) == pytest.approx(7e-6, abs=60 * NS)


def test_a_queue_that_ran_dry_is_noticed_and_held_longer() -> None:
    # 300 us a call: the first hold of 500 us is over before the marks are in the queue.
    clock, queue = device(call_s=300e-6, evict_s=1e-6)
    calibration = calibrate(queue, FakeWork(queue, (EMPTY_S,)))
    work = FakeWork(queue, hot_s=(3e-6,))
    times = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    assert max(queue.holds) > 500e-6
    assert median(times.samples_s) == pytest.approx(3e-6, abs=20 * NS)


def test_a_host_too_slow_for_any_hold_is_an_error_not_a_number() -> None:
    _, queue = device(call_s=0.3, evict_s=1e-6)
    with pytest.raises(TimingError, match="free the CPU"):
        calibrate(queue, FakeWork(queue, (EMPTY_S,)))


def test_noise_is_sampled_until_the_budget_is_spent_and_every_sample_is_kept() -> None:
    clock, queue = device()
    calibration = calibrate(queue, FakeWork(queue, (EMPTY_S,)))
    noise = tuple(i * 1e-6 for i in range(10))
    work = FakeWork(queue, hot_s=(10e-6,), noise_s=noise)
    policy = TimingPolicy(budget_s=0.05)
    started = clock()
    times = time_cold(queue, work, calibration, policy, clock=clock)
    assert times.stopped_by == "budget"
    assert clock() - started < 0.1
    assert len(times.samples_s) > policy.min_samples
    # Outliers stay in: the slowest of the cycle of ten is there as often as the fastest.
    slow = sum(sample > 18e-6 for sample in times.samples_s)
    assert slow == pytest.approx(len(times.samples_s) / 5, abs=3)


def test_resolution_is_the_spread_of_the_empty_kernel() -> None:
    _, queue = device()
    noise = (0.0, 0.1e-6, 0.2e-6, 0.3e-6, 0.4e-6)
    calibration = calibrate(queue, FakeWork(queue, (EMPTY_S,), noise_s=noise))
    assert calibration.resolution_s == pytest.approx(0.4e-6, abs=0.05e-6)


@pytest.mark.parametrize(
    "wrong",
    [{"target_interval": 0.0}, {"budget_s": -1.0}, {"min_samples": 0}, {"min_samples": 9999}],
)
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        TimingPolicy(**wrong)  # type: ignore[arg-type]
