"""Launches joined by hand: sums, weighted means, and what cannot be joined."""

from dataclasses import replace

import pytest

from rooflens.analysis.grouping import group_launches
from rooflens.measurement import Measurement, TimeSamples
from rooflens.precision import Precision
from rooflens.reported import Report, Source, TensorInput
from rooflens.terms import Basis, CacheState, MemoryLevel, Status

REPORT = Report(
    kernel_name="scale(float *)",
    source=Source(file="x.csv", row=3, tool="Nsight Compute"),
    grid=(8, 1, 1),
    stream="7",
    traffic_bytes={MemoryLevel.DRAM: 100.0, MemoryLevel.L2: 50.0},
    dram_read_bytes=60.0,
    flops={Precision.FP32: 10.0},
    tensor_ops={TensorInput.FP16: 4.0},
    fractions={"sm_throughput": 0.2, "l2_hit_rate": 0.5},
    stall_cycles={"barrier": 1.0},
    clocks_hz={"sm": 1e9},
)


def launch(report: Report = REPORT, *times_s: float) -> Measurement:
    times = {}
    if times_s:
        times[CacheState.REPORTED] = TimeSamples(
            samples_s=times_s,
            method="made up",
            launches_per_sample=1,
            correction_s=0.0,
            resolution_s=1e-9,
            stopped_by="report",
        )
    return Measurement(
        kernel="scale", status=Status.OK, basis=Basis.IMPORTED, times=times, report=report
    )


def joined(*members: Measurement) -> tuple[Measurement, Report]:
    (row,) = group_launches(members)
    assert row.report is not None
    return row, row.report


def test_times_are_joined_and_counts_become_means() -> None:
    """1 s at 100 B and 20 % of the SMs, 3 s at 300 B and 60 %: 200 B a launch, 50 % of the time."""
    other = replace(
        REPORT,
        traffic_bytes={MemoryLevel.DRAM: 300.0, MemoryLevel.L2: 150.0},
        flops={Precision.FP32: 30.0},
        fractions={"sm_throughput": 0.6, "l2_hit_rate": 0.9},
        clocks_hz={"sm": 2e9},
    )
    row, report = joined(launch(REPORT, 1.0), launch(other, 3.0))
    assert row.times[CacheState.REPORTED].samples_s == (1.0, 3.0)
    assert report.launches == 2
    assert report.traffic_bytes == {MemoryLevel.DRAM: 200, MemoryLevel.L2: 100}
    assert report.flops == {Precision.FP32: 20}
    assert report.tensor_ops == {TensorInput.FP16: 4}
    assert report.dram_read_bytes == 60
    assert report.fractions == {"sm_throughput": pytest.approx(0.5)}
    assert report.clocks_hz == {"sm": pytest.approx(1.75e9)}
    assert report.stall_cycles == {}
    assert "own weights" in report.absent["ratios"]


def test_what_not_all_launches_have_is_absent() -> None:
    other = replace(REPORT, traffic_bytes={MemoryLevel.DRAM: 300.0}, dram_read_bytes=None)
    _, report = joined(launch(REPORT, 1.0), launch(other, 3.0))
    assert report.traffic_bytes == {MemoryLevel.DRAM: 200}
    assert "not all" in report.absent["l2 bytes"]
    assert report.dram_read_bytes is None


def test_means_of_summaries_are_weighted_by_their_launches() -> None:
    """3 launches of 2 s and 1 of 6 s: 3 s each; 100 B and 500 B: 200 B each."""
    many = replace(REPORT, launches=3, mean_time_s=2.0)
    other = replace(REPORT, traffic_bytes={MemoryLevel.DRAM: 500.0, MemoryLevel.L2: 50.0})
    row, report = joined(launch(many), launch(other, 6.0))
    assert not row.times
    assert report.launches == 4
    assert report.mean_time_s == 3
    assert report.traffic_bytes[MemoryLevel.DRAM] == 200
    assert "not their median" in report.absent["time"]


def test_without_all_times_there_is_none_and_no_share_of_it() -> None:
    row, report = joined(launch(REPORT, 1.0), launch(REPORT))
    assert not row.times
    assert report.mean_time_s is None
    assert report.fractions == {}
    assert "not all" in report.absent["time"]


def test_other_kernels_shapes_ranges_and_rows_stay_apart() -> None:
    rows = (
        launch(REPORT, 1.0),
        launch(replace(REPORT, grid=(9, 1, 1)), 1.0),
        launch(replace(REPORT, kernel_name="gemm"), 1.0),
        launch(replace(REPORT, ranges=("layer",)), 1.0),
        launch(replace(REPORT, operator="aten::mm"), 1.0),
    )
    assert group_launches(rows) == rows


def test_streams_are_joined_and_then_not_told() -> None:
    _, report = joined(launch(REPORT, 1.0), launch(replace(REPORT, stream="8"), 1.0))
    assert report.stream is None


def test_constants_are_left_out_only_if_all_launches_agree() -> None:
    flagged = replace(REPORT, not_arithmetic=(Precision.FP16,))
    assert joined(launch(flagged, 1.0), launch(flagged, 1.0))[1].not_arithmetic
    assert not joined(launch(flagged, 1.0), launch(REPORT, 1.0))[1].not_arithmetic
