"""The real exports of one report, in every shape, against its right values."""

from typing import Any

import pytest

from rooflens.analysis.readers.ncu_csv import read_ncu_csv
from rooflens.analysis.readers.report_file import ReportFile
from rooflens.measurement import Measurement
from rooflens.precision import Precision
from rooflens.reported import Report, TensorInput
from rooflens.terms import CacheState, MemoryLevel
from tests.analysis.readers.exports import expected, export

FLOPS = {Precision.FP32: "fp32_flops", Precision.FP64: "fp64_flops", Precision.FP16: "fp16_flops"}


def read(name: str) -> ReportFile:
    return read_ncu_csv(export(name), name=f"{name}.csv")


def report_of(measurement: Measurement) -> Report:
    assert measurement.report is not None
    return measurement.report


def time_s(measurement: Measurement) -> float:
    (time,) = measurement.times[CacheState.REPORTED].samples_s
    return time


def pairs(name: str) -> list[tuple[Measurement, dict[str, Any]]]:
    return list(zip(read(name).measurements, expected(), strict=True))


def test_base_units_give_times_bytes_and_tensor_operations_exactly() -> None:
    for measurement, right in pairs("h200_raw_base_units"):
        report = report_of(measurement)
        assert time_s(measurement) == right["duration_ns"] / 1e9
        assert report.traffic_bytes[MemoryLevel.DRAM] == right["dram_bytes"]
        assert report.registers == right["registers"]
        assert report.fractions["theoretical_occupancy"] == right["occupancy_theoretical_pct"] / 100
        counted = {f"sm__ops_path_tensor_{kind}" for kind in right["tensor_counters"]}
        assert bool(counted) == any(report.tensor_ops.values())
        if counted:
            assert sum(report.tensor_ops.values()) in right["tensor_counters"].values()


def test_flops_and_l2_bytes_are_within_a_hundredth() -> None:
    for measurement, right in pairs("h200_raw_base_units"):
        report = report_of(measurement)
        assert report.traffic_bytes[MemoryLevel.L2] == pytest.approx(right["l2_bytes"], rel=1e-9)
        for precision, name in FLOPS.items():
            assert report.flops[precision] == pytest.approx(right[name], rel=1e-5)


def test_scaled_units_give_the_same_within_their_digits() -> None:
    for measurement, right in pairs("h200_raw"):
        report = report_of(measurement)
        assert time_s(measurement) == pytest.approx(right["duration_ns"] / 1e9, rel=1e-9)
        assert report.traffic_bytes[MemoryLevel.DRAM] == pytest.approx(
            right["dram_bytes"], rel=1e-6
        )
        assert report.traffic_bytes[MemoryLevel.L2] == pytest.approx(right["l2_bytes"], rel=1e-5)
        assert report.flops[Precision.FP32] == pytest.approx(right["fp32_flops"], rel=1e-2)


@pytest.mark.parametrize("name", ["h200_raw_base_units", "h200_raw"])
def test_a_gemm_of_4096_cubed_counts_each_operation_once(name: str) -> None:
    gemms = {
        kind: count
        for one in read(name).measurements
        for kind, count in report_of(one).tensor_ops.items()
        if count == 2 * 4096**3
    }
    assert set(gemms) == {TensorInput.TF32, TensorInput.FP16, TensorInput.BF16}


def test_details_give_time_and_dram_rate_and_no_operations() -> None:
    for measurement, right in pairs("h200_details"):
        report = report_of(measurement)
        assert time_s(measurement) == pytest.approx(right["duration_ns"] / 1e9, rel=2e-3)
        rate = report.traffic_bytes[MemoryLevel.DRAM] / time_s(measurement)
        assert rate == pytest.approx(right["dram_bytes"] / right["duration_ns"] * 1e9, rel=3e-3)
        assert not report.flops
        assert report.absent["fp32 FLOP"]


def test_a_summary_holds_means_of_its_launches() -> None:
    rows = read("h200_details_summary_per_kernel").measurements
    assert sum(report_of(row).launches for row in rows) == 24
    assert [report_of(row).launches for row in rows].count(2) == 1
    details: dict[str, list[float]] = {}
    for one in read("h200_details").measurements:
        details.setdefault(report_of(one).kernel_name, []).append(time_s(one))
    alone = {name: times[0] for name, times in details.items() if len(times) == 1}
    assert len(alone) > 15
    for row in rows:
        if report_of(row).kernel_name in alone:
            assert time_s(row) == alone[report_of(row).kernel_name]


def test_a_metric_that_does_not_exist_is_absent_with_the_reason() -> None:
    rows = read("h200_live_metrics").measurements
    assert len(rows) == 3
    for row in rows:
        assert "fp32 FLOP" in report_of(row).absent
        assert Precision.FP32 not in report_of(row).flops


def test_launches_among_the_lines_of_a_program_are_all_found() -> None:
    assert len(read("h200_live_stdout_mixed").measurements) == 27


def test_a_source_page_tells_operations_without_constants() -> None:
    """scale: 2^24 threads with one FFMA each and an HFMA2 that loads a 2; strided: 2^19 FADD; then
    scale again with 2^14 threads."""
    rows = read("h200_source_three_kernels").pages
    told = [(row.kernel, report_of(row).flops) for row in rows]
    none = {Precision.FP64: 0, Precision.FP16: 0}
    assert told == [
        ("scale", {Precision.FP32: 2 * 2**24, **none}),
        ("strided", {Precision.FP32: 2**19, **none}),
        ("scale", {Precision.FP32: 2 * 2**14, **none}),
    ]
    assert not rows[0].times


def test_the_card_and_where_each_number_comes_from_are_told() -> None:
    file = read("h200_raw_base_units")
    assert [card.name for card in file.cards] == ["NVIDIA H200"]
    report = report_of(file.measurements[0])
    assert report.derivations["dram bytes"] == "dram__bytes_read.sum + dram__bytes_write.sum"
    assert report.source.file == "h200_raw_base_units.csv"
    assert report.source.row == 3
    assert file.measurements[0].architecture == "sm_90"
    assert report.device.sm_count == 132


def test_constants_loaded_by_hfma2_are_told_from_arithmetic() -> None:
    """Rows 4 to 8 have FP16 operations and no half arithmetic; row 19 converts halves to floats."""
    rows = read("h200_raw_base_units").measurements
    for row in rows[4:9]:
        assert report_of(row).flops[Precision.FP16] > 0
        assert report_of(row).not_arithmetic == (Precision.FP16,)
    assert report_of(rows[19]).not_arithmetic == ()
    assert "may be conversions" in " ".join(rows[19].notes)
