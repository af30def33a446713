"""Imported launches under the roofs: by hand, and with everything missing that can be."""

from dataclasses import replace

import pytest

from rooflens.analysis.hardware import find_card
from rooflens.analysis.placed import Placement
from rooflens.analysis.placement import place
from rooflens.hardware import HardwareSpec
from rooflens.measurement import Measurement, TimeSamples
from rooflens.precision import Precision
from rooflens.reported import Report, Source, TensorInput
from rooflens.terms import Basis, Bound, CacheState, MemoryLevel, Status

RTX_4090 = find_card("RTX 4090")
ALL_COUNTED = {Precision.FP32: 1e9, Precision.FP64: 0.0, Precision.FP16: 0.0}
REPORT = Report(
    kernel_name="scale(float *)",
    source=Source(file="x.csv", row=3, tool="Nsight Compute"),
    traffic_bytes={MemoryLevel.DRAM: 1e8},
    flops=ALL_COUNTED,
)


def imported(report: Report, time_s: float | None = 200e-6) -> Measurement:
    times = {}
    if time_s is not None:
        times[CacheState.REPORTED] = TimeSamples(
            samples_s=(time_s,),
            method="made up",
            launches_per_sample=1,
            correction_s=0.0,
            resolution_s=1e-9,
            stopped_by="report",
        )
    return Measurement(
        kernel="scale", status=Status.OK, basis=Basis.IMPORTED, times=times, report=report
    )


def placed(report: Report, card: HardwareSpec | None = RTX_4090) -> Placement:
    return place(imported(report), card)


def test_intensity_and_fractions_are_of_what_was_counted() -> None:
    """1e9 FLOP on 1e8 B in 200 us: 10 FLOP/B, 0.5 TB/s of 1.008, 5 TFLOP/s of 82.6."""
    found = placed(REPORT)
    rate = found.primary_rate
    assert found.primary is CacheState.REPORTED
    assert found.intensity == 10
    assert rate is not None
    assert rate.achieved_bytes_per_s == pytest.approx(0.5e12)
    assert rate.fraction_of_bandwidth == pytest.approx(0.5 / 1.008)
    assert rate.fraction_of_peak == pytest.approx(5 / 82.6)
    assert found.attainable_flops_per_s == pytest.approx(10.08e12)
    assert found.bound is Bound.MEMORY


def test_without_counters_of_operations_there_is_no_intensity_and_no_bound() -> None:
    found = placed(replace(REPORT, flops={}, absent={"fp32 FLOP": "n/a"}))
    assert found.intensity is None
    assert found.bound is None
    assert found.primary_rate is not None
    assert found.primary_rate.achieved_flops_per_s is None
    assert found.primary_rate.fraction_of_bandwidth == pytest.approx(0.5 / 1.008)
    assert "operations unknown: n/a" in found.notes


def test_without_dram_bytes_there_is_no_intensity_and_no_bound() -> None:
    found = placed(replace(REPORT, traffic_bytes={}))
    assert found.intensity is None
    assert found.bound is None
    assert found.primary_rate is not None
    assert found.primary_rate.achieved_bytes_per_s is None
    assert found.primary_rate.fraction_of_peak == pytest.approx(5 / 82.6)
    assert "DRAM bytes unknown: not reported" in found.notes


def test_no_operations_is_known_and_not_the_same_as_unknown() -> None:
    found = placed(replace(REPORT, flops=dict.fromkeys(ALL_COUNTED, 0.0)))
    assert found.bound is Bound.MEMORY
    assert found.intensity is None
    assert any("counts no floating-point operations" in note for note in found.notes)


def test_constants_are_left_out_of_the_intensity() -> None:
    flops = {**ALL_COUNTED, Precision.FP16: 4e9}
    assert placed(replace(REPORT, flops=flops)).intensity == 50
    assert placed(replace(REPORT, flops=flops, not_arithmetic=(Precision.FP16,))).intensity == 10


def test_a_precision_that_was_not_counted_is_said() -> None:
    found = placed(replace(REPORT, flops={Precision.FP32: 1e9}))
    assert any("operations of fp64, fp16 were not counted" in note for note in found.notes)


def test_accumulators_that_a_report_tells_choose_the_peak() -> None:
    told = {Precision.FP16_TENSOR_FP32_ACC: 1e10}
    report = replace(REPORT, tensor_ops={TensorInput.FP16: 1e10}, tensor_precisions=told, flops={})
    found = placed(report)
    assert found.precision is Precision.FP16_TENSOR_FP32_ACC
    assert found.intensity == 100
    assert not any("accumulators" in note for note in found.notes)


def test_tensor_operations_stand_under_the_tensor_peak_of_their_inputs() -> None:
    """On this card FP16 with FP16 accumulators is twice as fast; some chips do not tell them."""
    found = placed(replace(REPORT, tensor_ops={TensorInput.FP16: 1e10}, flops={}))
    assert found.precision is Precision.FP16_TENSOR_FP16_ACC
    assert found.intensity == 100
    assert any("accumulators are not reported" in note for note in found.notes)
    bf16 = placed(replace(REPORT, tensor_ops={TensorInput.BF16: 1e10}, flops={}))
    assert bf16.precision is Precision.BF16_TENSOR_FP32_ACC


def test_a_tensor_type_without_a_known_peak_has_no_peak() -> None:
    found = placed(replace(REPORT, tensor_ops={TensorInput.INT1: 1e10}, flops={}))
    assert found.peak is None
    assert found.bound is None
    assert any("no int1 tensor peak is known" in note for note in found.notes)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (replace(REPORT, flops={**ALL_COUNTED, Precision.FP32: 2e10}), "the arithmetic peak"),
        (replace(REPORT, traffic_bytes={MemoryLevel.DRAM: 3e8}), "its counted DRAM bytes at 1.49"),
    ],
)
def test_faster_than_a_roof_is_suspect(report: Report, said: str) -> None:
    """1e14 FLOP/s of 82.6e12, and 1.5e12 B/s of 1.008e12."""
    found = placed(report)
    assert found.bound is Bound.SUSPECT
    assert found.primary_rate is not None
    assert said in (found.primary_rate.note or "")


def test_an_unknown_card_leaves_rates_and_intensity_and_no_fraction() -> None:
    found = placed(REPORT, None)
    rate = found.primary_rate
    assert found.intensity == 10
    assert found.bound is None
    assert rate is not None
    assert rate.achieved_bytes_per_s == pytest.approx(0.5e12)
    assert rate.fraction_of_bandwidth is None
    assert rate.fraction_of_peak is None


def test_without_a_time_there_is_no_rate() -> None:
    report = replace(REPORT, absent={"time": "n/a"})
    found = place(imported(report, None), RTX_4090)
    assert found.primary is None
    assert found.intensity == 10
    assert "no time: n/a" in found.notes
