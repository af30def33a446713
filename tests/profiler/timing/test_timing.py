"""Timing against a simulated device whose true times are known."""

import pytest

from rooflens.analysis.statistics import median
from rooflens.errors import TimingError, UsageError
from rooflens.profiler.timing import TimingPolicy, calibrate, time_cold, time_hot
from rooflens.run import Calibration, ColdClock
from tests.fakes import FakeClock, FakeQueue, FakeWork

EMPTY_S = 0.51e-6
NS = 1e-9
FINE, COARSE = 32e-9, 1.024e-6
BOTH_CLOCKS = pytest.mark.parametrize("tick_s", [FINE, COARSE], ids=["stamps", "events"])


def calibrated(queue: FakeQueue, noise_s: tuple[float, ...] = (0.0,)) -> Calibration:
    return calibrate(
        queue,
        FakeWork(queue, (EMPTY_S,), noise_s=noise_s),
        FakeWork(queue, (EMPTY_S, EMPTY_S), noise_s=noise_s),
    )


def test_the_constants_of_the_device_are_found() -> None:
    calibration = calibrated(FakeQueue(FakeClock()))
    # The graph's start, 3 us over 200 nodes, is all that is left of error: 15 ns.
    assert calibration.cold_clock is ColdClock.STAMPS
    assert calibration.empty_graph_s == pytest.approx(EMPTY_S, abs=16 * NS)
    assert calibration.hot_constant_s == pytest.approx(1.1e-6, abs=1 * NS)
    assert calibration.cold_first_s == pytest.approx(1.4e-6, abs=16 * NS)
    assert calibration.cold_following_s == pytest.approx(1.2e-6, abs=16 * NS)
    assert calibration.samples == 200


def test_a_coarse_counter_leaves_events() -> None:
    calibration = calibrated(FakeQueue(FakeClock(), tick_s=COARSE))
    assert calibration.cold_clock is ColdClock.EVENTS
    assert calibration.cold_first_s == pytest.approx(2.94e-6, abs=16 * NS)


def test_a_counter_that_stands_still_leaves_events() -> None:
    assert calibrated(FakeQueue(FakeClock(), tick_s=float("inf"))).cold_clock is ColdClock.EVENTS


@pytest.mark.parametrize(
    "queue",
    [
        FakeQueue(FakeClock(), event_constant_s=-0.2e-6, tick_s=COARSE),
        FakeQueue(FakeClock(), first_s=-0.2e-6),
        FakeQueue(FakeClock(), following_s=-0.2e-6),
        FakeQueue(FakeClock(), spacer_s=-0.2e-6),
    ],
)
def test_a_device_whose_readings_are_shorter_than_the_launch_is_refused(queue: FakeQueue) -> None:
    with pytest.raises(TimingError, match="cannot be calibrated"):
        calibrated(queue)


def test_a_clock_that_runs_backwards_is_refused() -> None:
    with pytest.raises(TimingError, match="backwards"):
        calibrated(FakeQueue(FakeClock(), first_s=-3e-6))


def test_calibration_refuses_other_work() -> None:
    queue = FakeQueue(FakeClock())
    one = FakeWork(queue, (EMPTY_S,))
    with pytest.raises(TimingError, match="got 1 and 1"):
        calibrate(queue, one, one)


@pytest.mark.parametrize("true_s", [0.5e-6, 1e-6, 5.7e-6, 32.4e-6, 126e-6, 1e-3, 50e-3])
def test_hot_time_is_within_the_promised_error(true_s: float) -> None:
    clock = FakeClock()
    queue = FakeQueue(clock)
    calibration = calibrated(queue)
    work = FakeWork(queue, (true_s,))
    times = time_hot(queue, work, calibration, TimingPolicy(), clock=clock)
    assert median(times.samples_s) == pytest.approx(true_s, abs=max(0.1e-6, 0.005 * true_s))
    assert times.stopped_by == "interval"
    assert times.correction_s == calibration.hot_constant_s


@BOTH_CLOCKS
@pytest.mark.parametrize("true_s", [0.5e-6, 1e-6, 9e-6, 497.5e-6, 50e-3])
def test_cold_time_is_the_cold_time_less_the_constant(true_s: float, tick_s: float) -> None:
    clock = FakeClock()
    queue = FakeQueue(clock, tick_s=tick_s)
    calibration = calibrated(queue)
    work = FakeWork(queue, hot_s=(true_s / 3,), cold_s=(true_s,))
    times = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    assert median(times.samples_s) == pytest.approx(true_s, abs=20 * NS)
    assert times.correction_s == calibration.cold_first_s


@BOTH_CLOCKS
def test_every_cold_sample_follows_an_eviction(tick_s: float) -> None:
    clock = FakeClock()
    queue = FakeQueue(clock, tick_s=tick_s)
    calibration = calibrated(queue)
    before = queue.evictions
    work = FakeWork(queue, hot_s=(1e-6,), cold_s=(2e-6,))
    times = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    assert queue.evictions - before == len(times.samples_s) + 1  # one run warms up
    assert min(times.samples_s) > 1.9e-6


@BOTH_CLOCKS
def test_several_launches_are_summed_without_the_gaps_between_them(tick_s: float) -> None:
    clock = FakeClock()
    queue = FakeQueue(clock, tick_s=tick_s)
    calibration = calibrated(queue)
    work = FakeWork(queue, hot_s=(1e-6, 2e-6, 4e-6))
    cold = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    hot = time_hot(queue, work, calibration, TimingPolicy(), clock=clock)
    assert median(cold.samples_s) == pytest.approx(7e-6, abs=60 * NS)
    assert median(hot.samples_s) == pytest.approx(7e-6, abs=60 * NS)


def test_a_queue_that_ran_dry_is_noticed_and_held_longer() -> None:
    # 300 us a call: the first hold of 500 us is over before the marks are in the queue.
    clock = FakeClock()
    queue = FakeQueue(clock, call_s=300e-6, evict_s=1e-6, tick_s=COARSE)
    calibration = calibrated(queue)
    work = FakeWork(queue, hot_s=(3e-6,))
    times = time_cold(queue, work, calibration, TimingPolicy(), clock=clock)
    assert max(queue.holds) > 500e-6
    assert median(times.samples_s) == pytest.approx(3e-6, abs=20 * NS)


def test_a_host_too_slow_for_any_hold_is_an_error_not_a_number() -> None:
    with pytest.raises(TimingError, match="free the CPU"):
        calibrated(FakeQueue(FakeClock(), call_s=0.3, evict_s=1e-6))


@BOTH_CLOCKS
def test_noise_is_sampled_until_the_budget_is_spent_and_every_sample_is_kept(
    tick_s: float,
) -> None:
    clock = FakeClock()
    queue = FakeQueue(clock, tick_s=tick_s)
    calibration = calibrated(queue)
    noise = tuple(i * 1e-6 for i in range(10))
    work = FakeWork(queue, hot_s=(10e-6,), noise_s=noise)
    policy = TimingPolicy(budget_s=0.05)
    started = clock()
    times = time_cold(queue, work, calibration, policy, clock=clock)
    assert times.stopped_by == "budget"
    assert clock() - started < 0.1
    assert len(times.samples_s) > policy.min_samples
    # Outliers stay in: the slowest two of the cycle of ten are a fifth of the samples.
    slow = sum(sample > 17.5e-6 for sample in times.samples_s)
    assert slow == pytest.approx(len(times.samples_s) / 5, abs=3)


def test_resolution_is_the_spread_of_the_empty_kernel() -> None:
    # The pair takes two of the cycle at a time, so that each launch meets each of the five.
    noise = (0.0, 0.1e-6, 0.2e-6, 0.3e-6, 0.4e-6)
    calibration = calibrated(FakeQueue(FakeClock()), noise_s=noise)
    assert calibration.resolution_s == pytest.approx(0.4e-6, abs=0.05e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"target_interval": 0.0}, "target_interval"),
        ({"budget_s": -1.0}, "budget_s"),
        ({"min_samples": 0}, "min_samples"),
        ({"min_samples": 9999}, "min_samples"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TimingPolicy(**wrong)  # type: ignore[arg-type]
