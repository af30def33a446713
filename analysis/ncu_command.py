"""The Nsight Compute command line whose export holds what rooflens reads, and little else."""

from collections.abc import Sequence

from rooflens.analysis.readers.ncu_wanted import ARITHMETIC_OPS, TIME

SECTIONS = (
    "SpeedOfLight",
    "LaunchStats",
    "Occupancy",
    "MemoryWorkloadAnalysis",
    "WarpStateStats",
)
"""For throughputs, launch shapes, occupancy, hit rates and stalls."""

_TENSOR = "sm__ops_path_tensor_src_"
_TENSOR_INPUTS = (
    "fp64",
    "tf32_dst_fp32",
    "bf16_dst_fp32",
    "fp16",
    "fp16_dst_fp16",
    "fp16_dst_fp32",
    "fp16_bf16_tf32_dst_fp32",
    "fp8",
    "fp8_dst_fp16",
    "fp8_dst_fp32",
    "fp8_sparsity_off",
    "int8",
    "int4",
    "int1",
)


def ncu_metrics() -> tuple[str, ...]:
    """Exact counts, by the names of all chips: ncu passes over those that a chip does not have."""
    ways = ("read", "write", "op_read", "op_write")
    return (
        TIME,
        *(f"dram__bytes_{way}.sum" for way in ways),
        "lts__lts2xbar_cycles_active.sum",
        "l1tex__lsu_writeback_active_mem_lgds.sum",
        "l1tex__lsu_writeback_active_mem_lg.sum",
        "l1tex__lsu_writeback_active.sum",
        "smsp__cycles_elapsed.avg",
        "smsp__inst_executed.sum",
        "sm__inst_executed_pipe_xu.sum",
        *(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ARITHMETIC_OPS),
        *(f"{_TENSOR}{kind}.sum" for kind in _TENSOR_INPUTS),
    )


def ncu_command(program: Sequence[str], *, report: str) -> tuple[str, ...]:
    """The words of the command that profiles `program` and writes `report`, a raw page in base
    units. The clock is left alone, so that times are those of use."""
    return (
        "ncu",
        *(word for section in SECTIONS for word in ("--section", section)),
        "--metrics",
        ",".join(ncu_metrics()),
        "--clock-control",
        "none",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--log-file",
        report,
        *program,
    )
