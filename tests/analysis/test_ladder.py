"""Ladders and seed rows, worked by hand."""

import dataclasses
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.fusion import fusion_saving
from rooflens.analysis.ladder import Ladder, ladders
from rooflens.analysis.seeds import SeedRow, seed_rows
from rooflens.cost import Cost, Traffic
from rooflens.hardware import Ceiling
from rooflens.kernels.seed_figures import SeedFigure
from rooflens.measurement import LaunchRecord, Measurement
from rooflens.run import Run
from rooflens.terms import Basis, CacheState, CeilingBasis, Status
from tests.analysis.rows import measured
from tests.rooflens.examples import CARD, PROVENANCE

HOT, COLD = CacheState.HOT, CacheState.COLD
Times = Mapping[CacheState, float | tuple[float, ...]]


def row(variant: str, times_s: Times, *, size: int = 1, resolution_s: float = 0.0) -> Measurement:
    made = measured(flops={}, moved=4_000_000, times_s=times_s, resolution_s=resolution_s)
    return dataclasses.replace(made, kernel=f"family.{variant}", variant=variant, size={"n": size})


def run_of(*rows: Measurement) -> Run:
    return Run(device_kind="cuda", hardware=CARD, provenance=PROVENANCE, measurements=rows)


def only(*rows: Measurement) -> Ladder:
    (found,) = ladders(run_of(*rows), "family", ("family.first", "family.second"))
    return found


def test_rungs_are_in_the_order_of_the_catalogue_and_compared_with_the_first() -> None:
    found = only(row("second", {HOT: 2e-6}), row("first", {HOT: 8e-6}))
    assert [rung.measurement.variant for rung in found.rungs] == ["first", "second"]
    assert [rung.speed_up for rung in found.rungs] == [1.0, 4.0]
    assert [rung.is_base for rung in found.rungs] == [True, False]
    assert found.rungs[0].speed_up_interval is None


def test_a_single_timed_rung_has_nothing_to_be_faster_than() -> None:
    for found in (
        only(row("first", {HOT: 2e-6})),
        only(row("first", {}), row("second", {HOT: 2e-6})),
        only(row("first", {HOT: 2e-6}), row("second", {HOT: 1e-8}, resolution_s=1e-7)),
    ):
        assert {rung.speed_up for rung in found.rungs} == {None}
        assert not any(rung.is_base for rung in found.rungs)


def test_a_ratio_past_all_numbers_is_absent() -> None:
    found = only(row("first", {HOT: 1e300}), row("second", {HOT: 1e-300}))
    assert found.rungs[1].speed_up is None
    assert found.rungs[1].speed_up_interval is None


def test_a_kernel_that_the_catalogue_lacks_comes_last() -> None:
    found = only(row("strange", {HOT: 1e-6}), row("second", {HOT: 2e-6}))
    assert [rung.measurement.variant for rung in found.rungs] == ["second", "strange"]


def test_the_interval_takes_each_median_at_its_worst() -> None:
    # 20 samples: the 97.5 % interval of the median is from the 5th to the 16th (P(B <= 4) =
    # 0.0059, P(B <= 5) = 0.0207).
    first = tuple(8e-6 + 1e-7 * step for step in range(20))
    second = tuple(2e-6 + 1e-8 * step for step in range(20))
    rung = only(row("first", {HOT: first}), row("second", {HOT: second})).rungs[1]
    assert rung.speed_up_interval == pytest.approx(
        ((8e-6 + 4e-7) / (2e-6 + 15e-8), (8e-6 + 15e-7) / (2e-6 + 4e-8))
    )


def test_each_size_and_state_has_its_own_ladder() -> None:
    found = ladders(
        run_of(
            row("first", {HOT: 1e-6, COLD: 2e-6}),
            row("second", {HOT: 1e-6}, size=2),
        ),
        "family",
        (),
    )
    assert [(one.size["n"], one.state) for one in found] == [(1, HOT), (1, COLD), (2, HOT)]


def test_a_rung_without_a_time_keeps_its_place_and_its_reason() -> None:
    skipped = dataclasses.replace(
        row("first", {}), status=Status.SKIPPED, reason="too large", basis=Basis.MODELLED
    )
    found = only(skipped, row("second", {HOT: 3e-6}), row("third", {HOT: 1.5e-6}))
    assert [rung.speed_up for rung in found.rungs] == [None, 1.0, 2.0]
    assert found.rungs[0].measurement.reason == "too large"


def test_a_time_under_the_resolution_gives_no_speed_up() -> None:
    found = only(row("first", {HOT: 8e-6}), row("second", {HOT: 1e-8}, resolution_s=1e-7))
    assert found.rungs[1].speed_up is None


def test_what_was_not_timed_is_one_ladder_without_times() -> None:
    found = only(row("first", {}), row("second", {}))
    assert found.state is None
    assert [rung.rate for rung in found.rungs] == [None, None]


def test_other_families_are_left_out() -> None:
    assert ladders(run_of(row("first", {HOT: 1e-6})), "other", ()) == ()


@given(times=st.lists(st.floats(min_value=1e-6, max_value=1.0), min_size=2, max_size=6))
def test_speed_ups_order_rungs_as_their_times_do(times: list[float]) -> None:
    (found,) = ladders(
        run_of(*(row(f"v{place}", {HOT: time}) for place, time in enumerate(times))), "family", ()
    )
    ups = [rung.speed_up for rung in found.rungs]
    assert ups[0] == 1.0
    for up, time in zip(ups, times, strict=True):
        assert up == pytest.approx(times[0] / time)


# Fusion


def launch(read: int, write: int) -> LaunchRecord:
    traffic = Traffic(read_bytes=read, write_bytes=write)
    return LaunchRecord(
        entry="step",
        grid=(1, 1, 1),
        block=(32, 1, 1),
        dynamic_shared_bytes=0,
        cost=Cost(flops={}, special_function_ops=0, compulsory=traffic, issued=traffic),
    )


BANDWIDTH = Ceiling(per_s=4e12, basis=CeilingBasis.NOMINAL, source="data sheet")


def test_what_passes_between_launches_is_what_the_whole_does_not_need() -> None:
    # 1 MB in, 3 MB between, 1 MB out: 8 MB for two launches, 2 MB for one.
    two = dataclasses.replace(
        measured(flops={}, moved=2_000_000, times_s={}),
        launches=(launch(1_000_000, 3_000_000), launch(3_000_000, 1_000_000)),
    )
    saving = fusion_saving(two, BANDWIDTH)
    assert saving is not None
    assert saving.between == Traffic(read_bytes=3_000_000, write_bytes=3_000_000)
    assert saving.over_compulsory_bytes == 6_000_000
    assert saving.fraction == 0.75
    assert saving.time_s == pytest.approx(1.5e-6)


def test_one_launch_has_nothing_to_fuse_and_an_unknown_bandwidth_gives_no_time() -> None:
    one = dataclasses.replace(
        measured(flops={}, moved=2_000_000, times_s={}), launches=(launch(1_000_000, 1_000_000),)
    )
    assert fusion_saving(one, BANDWIDTH) is None
    two = dataclasses.replace(one, launches=one.launches * 2)
    saving = fusion_saving(two, None)
    assert saving is not None
    assert saving.time_s is None


# Seed figures


def figure(variant: str, **changes: object) -> SeedFigure:
    made = SeedFigure(
        kernel=f"family.{variant}",
        size={"n": 1},
        time_ms="0.005",
        time_s=5e-6,
        time_step_s=0.5e-6,
        time_is_about=False,
        bytes_per_s=800e9,
        ratio=1.0,
        ratio_is_about=False,
        tensor_bytes=4_000_000,
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def seeds(*figures: SeedFigure, run: Run | None = None) -> tuple[SeedRow, ...]:
    return seed_rows(figures, run or run_of(), 1008e9)


@pytest.mark.parametrize(
    ("bytes_per_s", "time_s", "cached"),
    [
        (1008e9, 5e-6, False),
        (1009e9, 5e-6, True),
        # 4 MB in at most 3.5 us is 1143 GB/s at least; in at most 4.5 us it may be 889.
        (None, 3e-6, True),
        (None, 4e-6, False),
    ],
)
def test_more_than_dram_has_is_a_caches_doing(
    bytes_per_s: float | None, time_s: float, cached: bool
) -> None:
    (found,) = seeds(figure("naive", bytes_per_s=bytes_per_s, time_s=time_s))
    assert found.cached_there is cached


def test_a_bandwidth_that_is_not_that_of_its_time_is_told() -> None:
    # 4 MB in 4.5 to 5.5 us: 727 to 889 GB/s.
    rows = seeds(figure("a", bytes_per_s=727.4e9), figure("b", bytes_per_s=890e9))
    assert [one.contradicts for one in rows] == [False, True]


def test_a_seed_row_holds_the_runs_hot_time_and_its_ratio() -> None:
    run = run_of(row("naive", {HOT: 8e-6, COLD: 9e-6}), row("fast", {HOT: 2e-6}))
    naive, fast, lost = seeds(figure("naive"), figure("fast"), figure("lost"), run=run)
    assert naive.ratio == 1.0
    assert fast.ratio == 4.0
    assert lost.rate is None
    assert lost.missing == "not in this run"
