"""Rows under roofs: the seed texts' figures, mixed precisions, and what must stay absent."""

from dataclasses import replace

import pytest

from rooflens.analysis.hardware import find_card
from rooflens.analysis.placement import place
from rooflens.precision import Precision
from rooflens.terms import Bound, CacheState, MemoryLevel, Status
from tests.analysis.rows import measured

HOT, COLD = CacheState.HOT, CacheState.COLD
FP32, TENSOR = Precision.FP32, Precision.FP16_TENSOR_FP32_ACC
RTX_4090, H200 = find_card("RTX 4090"), find_card("H200")
SOFTMAX_BYTES = 2 * 128 * 4096 * 4
SOFTMAX_FLOPS = {FP32: 5 * 128 * 4096}


def _absent(*values: object) -> bool:
    return all(value is None for value in values)


def test_softmax_naive_of_the_seed_is_bound_by_memory() -> None:
    row = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={HOT: 5.3e-6})
    placed = place(row, RTX_4090)
    assert placed.intensity == 0.625
    assert placed.ridge == pytest.approx(81.94, abs=0.005)
    assert placed.attainable_flops_per_s == 630e9
    assert placed.time_bound_s == pytest.approx(4.161e-6, rel=1e-3)
    assert placed.precision is FP32
    assert placed.peak is RTX_4090.peaks[FP32]
    assert placed.bandwidth is RTX_4090.bandwidths[MemoryLevel.DRAM]
    assert placed.primary is HOT
    assert placed.bound is placed.model_bound is Bound.MEMORY
    rate = placed.rates[HOT]
    assert rate.achieved_bytes_per_s == pytest.approx(791.4e9, rel=1e-4)
    assert rate.achieved_flops_per_s == pytest.approx(494.6e9, rel=1e-4)
    assert rate.fraction_of_bandwidth == pytest.approx(0.7851, abs=1e-4)
    assert rate.fraction_of_attainable == pytest.approx(0.7851, abs=1e-4)
    assert rate.fraction_of_peak == pytest.approx(0.005988, abs=1e-6)
    assert (rate.samples, rate.interval95) == (20, (5.3e-6, 5.3e-6))
    assert rate.note is not None
    assert "need not wait for DRAM" in rate.note


def test_gemm_4096_in_float32_on_an_h200_is_bound_by_arithmetic() -> None:
    row = measured(
        flops={FP32: 2 * 4096**3}, moved=3 * 4096**2 * 4, times_s={HOT: 2679e-6, COLD: 2700e-6}
    )
    placed = place(row, H200)
    assert placed.bound is Bound.COMPUTE
    assert placed.primary is COLD
    assert placed.rates[HOT].achieved_flops_per_s == pytest.approx(51.3e12, rel=1e-3)
    assert placed.rates[HOT].fraction_of_peak == pytest.approx(51.3 / 66.9, rel=1e-3)
    assert placed.rates[HOT].fraction_of_attainable == placed.rates[HOT].fraction_of_peak


def test_softmax_on_an_h200_cold_is_the_row_that_counts() -> None:
    small = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={HOT: 0.8e-6, COLD: 2.5e-6})
    placed = place(small, H200)
    assert placed.rates[HOT].bound is Bound.CACHE
    assert placed.rates[COLD].bound is Bound.MEMORY
    assert placed.bound is Bound.MEMORY
    assert placed.primary_rate is placed.rates[COLD]
    moved = 2 * 16384 * 4096 * 4
    large = measured(flops={FP32: 5 * moved // 8}, moved=moved, times_s={COLD: moved / 4036e9})
    assert place(large, H200).rates[COLD].fraction_of_bandwidth == pytest.approx(4036 / 4800)
    assert place(large, H200).bound is Bound.MEMORY


def test_unresolved_times_give_no_rates() -> None:
    row = measured(
        flops=SOFTMAX_FLOPS,
        moved=SOFTMAX_BYTES,
        times_s={COLD: 0.08e-6, HOT: 2e-6},
        resolution_s=0.1e-6,
    )
    placed = place(row, H200)
    rate = placed.rates[COLD]
    assert not rate.resolved
    assert rate.median_s == 0.08e-6
    assert _absent(rate.achieved_bytes_per_s, rate.achieved_flops_per_s)
    assert _absent(rate.fraction_of_bandwidth, rate.fraction_of_peak)
    assert _absent(rate.fraction_of_attainable, rate.bound)
    assert "not above what the method can tell apart" in (rate.note or "")
    assert placed.bound is None
    assert placed.rates[HOT].resolved


@pytest.mark.parametrize("samples", [(0.0,) * 20, (-1e-7,) * 20, (1e-7,) * 20])
def test_a_median_at_or_under_the_resolution_is_not_resolved(samples: tuple[float, ...]) -> None:
    row = measured(flops={FP32: 8}, moved=8, times_s={HOT: samples}, resolution_s=1e-7)
    assert not place(row, H200).rates[HOT].resolved


def test_without_times_the_model_places_the_row() -> None:
    placed = place(measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={}), RTX_4090)
    assert placed.rates == {}
    assert _absent(placed.primary, placed.primary_rate)
    assert placed.bound is Bound.MEMORY
    assert placed.attainable_flops_per_s == 630e9
    assert placed.notes == ("no rates: nothing was timed; the bound is the model's",)
    gemm = measured(flops={FP32: 2 * 4096**3}, moved=3 * 4096**2 * 4, times_s={})
    assert place(gemm, RTX_4090).bound is Bound.COMPUTE


def test_unverified_times_are_not_used() -> None:
    row = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={HOT: 5e-6}, passed=False)
    for doubtful in (row, replace(row, verification=None)):
        placed = place(doubtful, RTX_4090)
        assert placed.rates == {}
        assert placed.primary is None
        assert "the result was not verified" in placed.notes[-1]


@pytest.mark.parametrize("status", [Status.FAILED, Status.SKIPPED])
def test_rows_that_are_not_ok_are_not_placed(status: Status) -> None:
    row = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={HOT: 5e-6})
    placed = place(replace(row, status=status, reason="too large"), RTX_4090)
    assert placed.notes == (f"not placed: {status.value} (too large)",)
    assert _absent(placed.intensity, placed.bound, placed.time_bound_s)
    assert placed.rates == {}


def test_a_row_without_cost_is_not_placed() -> None:
    row = replace(measured(flops={}, moved=8, times_s={}), cost=None)
    assert place(row, RTX_4090).bound is None
    assert "unknown" in place(row, RTX_4090).notes[0]


def test_unknown_bandwidth_leaves_absent_what_needs_it() -> None:
    row = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={HOT: 1e-6})
    placed = place(row, replace(RTX_4090, bandwidths={}))
    assert _absent(placed.ridge, placed.attainable_flops_per_s, placed.time_bound_s)
    assert _absent(placed.bandwidth, placed.bound)
    assert placed.intensity == 0.625
    rate = placed.rates[HOT]
    assert _absent(rate.fraction_of_bandwidth, rate.fraction_of_attainable)
    assert rate.achieved_bytes_per_s == pytest.approx(4.194e12, rel=1e-3)
    assert rate.fraction_of_peak is not None
    assert placed.notes == ("no DRAM bandwidth is known for GeForce RTX 4090",)


def test_unknown_peak_leaves_absent_what_needs_it() -> None:
    row = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={HOT: 5.3e-6})
    placed = place(row, replace(RTX_4090, peaks={}))
    assert _absent(placed.peak, placed.ridge, placed.attainable_flops_per_s, placed.bound)
    assert placed.precision is FP32
    rate = placed.rates[HOT]
    assert _absent(rate.fraction_of_peak, rate.fraction_of_attainable)
    assert rate.fraction_of_bandwidth == pytest.approx(0.7851, abs=1e-4)
    assert placed.notes == ("no fp32 peak is known for GeForce RTX 4090",)


@pytest.mark.parametrize("flops", [{}, {FP32: 0}])
def test_a_copy_is_placed_by_its_bytes(flops: dict[Precision, int]) -> None:
    moved = 2 * 2**30
    placed = place(measured(flops=flops, moved=moved, times_s={COLD: 497.5e-6}), H200)
    assert _absent(placed.intensity, placed.attainable_flops_per_s, placed.peak)
    assert _absent(placed.precision, placed.ridge)
    assert placed.time_bound_s == moved / 4800e9
    assert placed.bound is Bound.MEMORY
    rate = placed.rates[COLD]
    assert _absent(rate.achieved_flops_per_s, rate.fraction_of_peak)
    assert rate.fraction_of_attainable == pytest.approx(rate.fraction_of_bandwidth)
    assert "no operations counted" in placed.notes[0]


def test_work_without_traffic_is_placed_by_its_operations() -> None:
    placed = place(measured(flops={FP32: 10**9}, moved=0, times_s={HOT: 20e-6}), RTX_4090)
    assert placed.intensity is None
    assert placed.attainable_flops_per_s == 82.6e12
    assert placed.bound is Bound.COMPUTE
    assert placed.rates[HOT].achieved_bytes_per_s is None
    assert placed.rates[HOT].fraction_of_peak == pytest.approx(10**9 / 20e-6 / 82.6e12)


def test_an_empty_kernel_has_times_and_nothing_else() -> None:
    placed = place(measured(flops={}, moved=0, times_s={HOT: 0.5e-6}), RTX_4090)
    assert _absent(placed.bound, placed.time_bound_s, placed.intensity)
    assert placed.rates[HOT].median_s == 0.5e-6
    assert placed.rates[HOT].fraction_of_attainable is None


def test_ordinary_and_tensor_units_overlap() -> None:
    # Tensor 989.4e9 at 989.4e12 is 1 ms; FP32 13.38e9 at 66.9e12 is 0.2 ms beside it.
    row = measured(
        flops={TENSOR: 989_400_000_000, FP32: 13_380_000_000}, moved=10**6, times_s={COLD: 2e-3}
    )
    placed = place(row, H200)
    assert placed.precision is TENSOR
    assert placed.time_bound_s == pytest.approx(1e-3)
    assert placed.peak is not None
    assert placed.peak.per_s == pytest.approx(1002.78e12)
    assert "fp16_tensor_fp32_acc peak, for its mix with fp32" in placed.peak.source
    assert placed.rates[COLD].fraction_of_peak == pytest.approx(0.5)
    assert placed.rates[COLD].fraction_of_attainable == pytest.approx(0.5)


def test_the_slower_unit_binds_even_with_fewer_operations() -> None:
    row = measured(flops={TENSOR: 100 * 10**9, FP32: 20 * 10**9}, moved=10**6, times_s={})
    placed = place(row, H200)
    assert placed.precision is FP32
    assert placed.time_bound_s == pytest.approx(20e9 / 66.9e12)


def test_tensor_precisions_share_their_units() -> None:
    tf32 = Precision.TF32_TENSOR
    row = measured(flops={TENSOR: 989_400_000, tf32: 494_700_000}, moved=8, times_s={})
    placed = place(row, H200)
    assert placed.time_bound_s == pytest.approx(2e-6)


def test_a_mix_with_an_unknown_peak_has_no_peak() -> None:
    fp4 = Precision.FP4_TENSOR
    placed = place(measured(flops={fp4: 10, FP32: 20}, moved=8, times_s={}), H200)
    assert _absent(placed.peak, placed.bound)
    assert "no fp4_tensor peak is known" in placed.notes[0]


def test_percentiles_come_from_the_raw_samples() -> None:
    samples = tuple(float(value) * 1e-6 for value in range(11, 0, -1))
    rate = place(measured(flops={FP32: 8}, moved=8, times_s={HOT: samples}), H200).rates[HOT]
    assert rate.median_s == 6e-6
    assert rate.p10_s == pytest.approx(2e-6)
    assert rate.p90_s == pytest.approx(10e-6)
    assert rate.samples == 11
    few = place(measured(flops={FP32: 8}, moved=8, times_s={HOT: samples[:5]}), H200).rates[HOT]
    assert few.interval95 is None


@pytest.mark.parametrize(
    ("cold_s", "hot_s", "noted"),
    [(9e-6, 10e-6, True), (11e-6, 10e-6, False), (10e-6, 10e-6, False)],
)
def test_a_cold_time_below_the_hot_one_is_pointed_out(
    cold_s: float, hot_s: float, noted: bool
) -> None:
    times = {CacheState.COLD: (cold_s,) * 20, CacheState.HOT: (hot_s,) * 20}
    found = place(measured(flops={}, moved=4_000_000, times_s=times), H200)
    assert any("cold median is below the hot one" in note for note in found.notes) == noted
    few = {state: samples[:3] for state, samples in times.items()}  # no interval, no telling
    assert not any(
        "cold median" in note
        for note in place(measured(flops={}, moved=4_000_000, times_s=few), H200).notes
    )
