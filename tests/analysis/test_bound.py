"""Rates faster than a roof: what a cache explains, what nothing does, and what is not doubted."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.hardware import find_card
from rooflens.analysis.placement import place
from rooflens.precision import Precision
from rooflens.terms import Bound, CacheState
from tests.analysis.rows import measured

HOT, COLD = CacheState.HOT, CacheState.COLD
FP32 = Precision.FP32
RTX_4090 = find_card("RTX 4090")
SOFTMAX_BYTES = 2 * 128 * 4096 * 4
SOFTMAX_FLOPS = {FP32: 5 * 128 * 4096}


@pytest.mark.parametrize(
    ("moved", "rate", "words"),
    [
        (
            SOFTMAX_BYTES,
            1180.62e9,
            "moves its data at 1.18 TB/s, 1.17 x DRAM's bandwidth: "
            "its 4.19 MB working set fits the 75.5 MB L2",
        ),
        (
            2 * 2048 * 4096 * 4,
            2620.64e9,
            "moves its data at 2.62 TB/s, 2.60 x DRAM's bandwidth: "
            "its 67.1 MB working set fits the 75.5 MB L2",
        ),
        (
            2 * 2048 * 32 * 128 * 4,
            1675.92e9,
            "moves its data at 1.68 TB/s, 1.66 x DRAM's bandwidth: "
            "its 67.1 MB working set fits the 75.5 MB L2",
        ),
    ],
)
def test_seed_rates_above_dram_are_the_caches(moved: int, rate: float, words: str) -> None:
    row = measured(flops={FP32: moved // 4}, moved=moved, times_s={HOT: moved / rate})
    placed = place(row, RTX_4090)
    assert placed.bound is Bound.CACHE
    assert placed.model_bound is Bound.MEMORY
    assert placed.rates[HOT].note == words
    assert placed.rates[HOT].fraction_of_bandwidth == pytest.approx(rate / 1008e9)


@pytest.mark.parametrize("state", [HOT, COLD])
def test_faster_than_dram_with_a_large_working_set_is_suspect(state: CacheState) -> None:
    moved = 2 * 16384 * 4096 * 4
    row = measured(flops={FP32: moved}, moved=moved, times_s={state: moved / 1100e9})
    placed = place(row, RTX_4090)
    assert placed.bound is Bound.SUSPECT
    note = placed.rates[state].note
    assert note is not None
    assert "537 MB working set does not fit the 75.5 MB L2" in note


def test_a_hot_working_set_just_over_l2_is_partly_cached() -> None:
    # 100 MB, of which the 75.5 MB of L2 may stay: 24.5 MB at 3 TB/s is 0.735 TB/s from DRAM.
    row = measured(flops={FP32: 1}, moved=100_000_000, times_s={HOT: 100e6 / 3e12})
    placed = place(row, RTX_4090)
    assert placed.bound is Bound.CACHE
    assert "partly" in (placed.rates[HOT].note or "")
    # At 5 TB/s those 24.5 MB alone would take 1.22 TB/s from a DRAM of 1.008.
    faster = measured(flops={FP32: 1}, moved=100_000_000, times_s={HOT: 100e6 / 5e12})
    assert place(faster, RTX_4090).bound is Bound.SUSPECT
    assert "would need 1.23 TB/s" in (place(faster, RTX_4090).rates[HOT].note or "")


def test_in_place_work_counts_each_cached_byte_twice() -> None:
    # A buffer of 80 MB read and written: 160 MB of traffic, of which L2 saves 151 MB.
    row = measured(
        flops={FP32: 1}, moved=160_000_000, working_set=80_000_000, times_s={HOT: 160e6 / 5e12}
    )
    assert place(row, RTX_4090).bound is Bound.CACHE


def test_cold_output_may_stay_in_l2_but_cold_input_cannot() -> None:
    half = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={COLD: 2.5e-6})
    placed = place(half, RTX_4090)
    assert placed.bound is Bound.CACHE
    assert "output may still be in the 75.5 MB L2" in (placed.rates[COLD].note or "")
    # Its 2.1 MB of reads at 2 us is 1.05 TB/s, more than DRAM gives.
    faster = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={COLD: 2.0e-6})
    assert place(faster, RTX_4090).bound is Bound.SUSPECT
    assert "its inputs were evicted" in (place(faster, RTX_4090).rates[COLD].note or "")
    reads = measured(
        flops={FP32: 1}, moved=SOFTMAX_BYTES, reads=SOFTMAX_BYTES, times_s={COLD: 4.0e-6}
    )
    assert place(reads, RTX_4090).bound is Bound.SUSPECT


def test_faster_than_the_peak_is_suspect_even_from_cache() -> None:
    row = measured(flops={FP32: 2 * 4096**3}, moved=3 * 4096**2, times_s={HOT: 1e-3})
    placed = place(row, RTX_4090)
    assert placed.bound is Bound.SUSPECT
    assert "1.66 x the arithmetic peak" in (placed.rates[HOT].note or "")


@pytest.mark.parametrize("lacking", ["l2", "working set"])
def test_faster_than_dram_without_a_cache_size_is_left_open(lacking: str) -> None:
    row = measured(flops=SOFTMAX_FLOPS, moved=SOFTMAX_BYTES, times_s={HOT: 3.5e-6})
    card = RTX_4090
    if lacking == "l2":
        card = replace(card, l2_bytes=None)
    else:
        row = replace(row, working_set_bytes=None)
    placed = place(row, card)
    assert placed.bound is None
    assert "unknown" in (placed.rates[HOT].note or "")


@given(
    flops=st.integers(min_value=1, max_value=10**14),
    moved=st.integers(min_value=2, max_value=10**11),
    slowness=st.floats(min_value=1, max_value=1e6),
)
def test_no_run_slower_than_its_bound_is_doubted(flops: int, moved: int, slowness: float) -> None:
    model = place(measured(flops={FP32: flops}, moved=moved, times_s={}), RTX_4090)
    assert model.time_bound_s is not None
    times = {COLD: model.time_bound_s * slowness}
    placed = place(measured(flops={FP32: flops}, moved=moved, times_s=times), RTX_4090)
    assert placed.bound is model.bound
    rate = placed.rates[COLD]
    assert rate.fraction_of_attainable == pytest.approx(1 / slowness)
    assert rate.achieved_flops_per_s is not None
    assert placed.attainable_flops_per_s is not None
    assert rate.achieved_flops_per_s / placed.attainable_flops_per_s == pytest.approx(1 / slowness)


@given(
    flops=st.integers(min_value=1, max_value=10**14),
    moved=st.integers(min_value=2, max_value=10**11),
    haste=st.floats(min_value=1.001, max_value=1e3),
    state=st.sampled_from((CacheState.HOT, CacheState.COLD)),
)
def test_every_run_faster_than_its_bound_is_explained_or_doubted(
    flops: int, moved: int, haste: float, state: CacheState
) -> None:
    model = place(measured(flops={FP32: flops}, moved=moved, times_s={}), RTX_4090)
    assert model.time_bound_s is not None
    row = measured(flops={FP32: flops}, moved=moved, times_s={state: model.time_bound_s / haste})
    placed = place(row, RTX_4090)
    assert placed.bound in (Bound.CACHE, Bound.SUSPECT)
    assert placed.rates[state].note
    if model.bound is Bound.COMPUTE or moved >= 2 * 72 * 2**20:
        assert placed.bound is Bound.SUSPECT
