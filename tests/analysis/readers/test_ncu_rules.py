"""Bytes and operations from metrics, by hand, with the traps of each chip."""

import pytest

from rooflens.analysis.readers.ncu_rules import tensor_ops, work_out
from rooflens.precision import Precision
from rooflens.reported import TensorInput
from rooflens.terms import MemoryLevel

EXECUTED = "smsp__sass_thread_inst_executed_op_{}_pred_on"


def executed(**counts: float) -> dict[str, float]:
    return {f"{EXECUTED.format(op)}.sum": count for op, count in counts.items()}


def test_a_fused_multiply_add_is_two_operations() -> None:
    found = work_out(executed(fadd=10, fmul=20, ffma=100), (8, 9))
    assert found.flops == {Precision.FP32: 10 + 20 + 200}


def test_half_operations_work_on_two_lanes() -> None:
    found = work_out(executed(hadd=1, hmul=10, hfma=100), (8, 9))
    assert found.flops == {Precision.FP16: 2 + 20 + 400}


def test_packed_fp32_operations_join_where_the_chip_counts_them() -> None:
    found = work_out(executed(fadd=1, fmul=1, ffma=1, fadd2=10, fmul2=10, ffma2=10), (10, 0))
    assert found.flops == {Precision.FP32: 1 + 1 + 2 + 20 + 20 + 40}


def test_without_all_three_counters_operations_are_unknown() -> None:
    assert work_out(executed(fadd=10, ffma=100), (8, 9)).flops == {}


def test_rates_per_cycle_are_multiplied_by_the_launch_s_cycles() -> None:
    values = {
        f"{EXECUTED.format('fadd')}.sum.per_cycle_elapsed": 0.5,
        f"{EXECUTED.format('fmul')}.sum.per_cycle_elapsed": 0.0,
        f"{EXECUTED.format('ffma')}.sum.per_cycle_elapsed": 2.0,
        "smsp__cycles_elapsed.avg": 1000.0,
    }
    assert work_out(values, (9, 0)).flops == {Precision.FP32: 500 + 2 * 2000}


def test_a_derived_metric_is_doubled_already() -> None:
    values = {
        f"{EXECUTED.format('fadd')}.sum": 0.0,
        f"{EXECUTED.format('fmul')}.sum": 0.0,
        "derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2": 4.0,
        "smsp__cycles_elapsed.avg": 1000.0,
    }
    assert work_out(values, (9, 0)).flops == {Precision.FP32: 4000}


@pytest.mark.parametrize(
    ("values", "moved"),
    [
        ({"dram__bytes.sum": 100.0, "dram__bytes_read.sum": 1.0}, 100),
        ({"dram__bytes_read.sum": 60.0, "dram__bytes_write.sum": 40.0}, 100),
        ({"dram__bytes_op_read.sum": 60.0, "dram__bytes_op_write.sum": 40.0}, 100),
        ({"dram__sectors_read.sum": 2.0, "dram__sectors_write.sum": 1.0}, 96),
        ({"dram__bytes.sum.per_second": 50.0, "gpu__time_duration.sum": 2.0}, 100),
        ({"dram__bytes_read.sum": 60.0}, None),
        ({"dram__bytes.sum.per_second": 50.0}, None),
    ],
)
def test_dram_bytes_by_what_the_chip_calls_them(
    values: dict[str, float], moved: float | None
) -> None:
    assert work_out(values, None).traffic_bytes.get(MemoryLevel.DRAM) == moved


@pytest.mark.parametrize(
    ("metric", "capability", "factor"),
    [
        ("l1tex__lsu_writeback_active_mem_lgds.sum", (9, 0), 128),
        ("l1tex__lsu_writeback_active_mem_lg.sum", (8, 9), 128),
        ("l1tex__lsu_writeback_active.sum", (7, 0), 128),
        ("l1tex__lsu_writeback_active.sum", (8, 9), None),
    ],
)
def test_l1_bytes_by_what_the_chip_calls_them(
    metric: str, capability: tuple[int, int], factor: int | None
) -> None:
    found = work_out({metric: 10.0}, capability).traffic_bytes.get(MemoryLevel.L1)
    assert found == (None if factor is None else 10 * factor)


def test_l2_bytes_are_cycles_of_32_bytes() -> None:
    values = {"lts__lts2xbar_cycles_active.sum": 10.0, "lts__t_bytes.sum": 7.0}
    assert work_out(values, (9, 0)).traffic_bytes == {MemoryLevel.L2: 320}
    assert work_out({"lts__t_bytes.sum": 7.0}, (7, 5)).traffic_bytes == {MemoryLevel.L2: 7}


def test_tensor_totals_and_their_parts_are_never_added() -> None:
    path = "sm__ops_path_tensor_"
    found = tensor_ops(
        {
            f"{path}src_fp16_dst_fp32.sum": 100.0,
            f"{path}src_fp16_dst_fp32_sparsity_off.sum": 100.0,
            f"{path}op_hgmma_src_fp16_dst_fp32.sum": 100.0,
            f"{path}src_tf32_dst_fp32.sum": 8.0,
        }
    )
    assert {kind: one.value for kind, one in found.items()} == {
        TensorInput.FP16: 100.0,
        TensorInput.TF32: 8.0,
    }


def test_accumulators_are_told_where_the_counters_names_tell_them() -> None:
    path = "sm__ops_path_tensor_src_"
    values = {
        f"{path}fp16_dst_fp16.sum": 10.0,
        f"{path}fp16_dst_fp32.sum": 30.0,
        f"{path}bf16_dst_fp32.sum": 5.0,
    }
    found = work_out(values, (8, 9))
    assert found.tensor_ops == {TensorInput.FP16: 40, TensorInput.BF16: 5}
    assert found.tensor_precisions == {
        Precision.FP16_TENSOR_FP16_ACC: 10,
        Precision.FP16_TENSOR_FP32_ACC: 30,
    }
    assert work_out({f"{path}fp16.sum": 7.0}, (9, 0)).tensor_precisions == {}


def test_parts_by_sparsity_are_added_where_no_total_is() -> None:
    path = "sm__ops_path_tensor_src_int8"
    found = tensor_ops({f"{path}_sparsity_off.sum": 30.0, f"{path}_sparsity_on.sum": 12.0})
    assert found[TensorInput.INT8].value == 42


def test_each_number_says_how_it_was_worked_out() -> None:
    found = work_out({"dram__bytes_read.sum": 1.0, "dram__bytes_write.sum": 2.0}, None)
    assert found.how["dram bytes"] == "dram__bytes_read.sum + dram__bytes_write.sum"
