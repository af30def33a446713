"""The metrics of Nsight Compute that rooflens reads, and what each one must be of.

Names were taken from reports of real runs and from the metric lists of eight chips. Others stay
unread.
"""

import re
from collections.abc import Mapping

from rooflens.analysis.readers.report_units import Dimension

TIME = "gpu__time_duration.sum"
MEAN_TIME = "gpu__time_duration.avg"
DRAM_RATE = "dram__bytes.sum.per_second"

ARITHMETIC_OPS = (
    "fadd", "fmul", "ffma", "fadd2", "fmul2", "ffma2",
    "dadd", "dmul", "dfma",
    "hadd", "hmul", "hfma",
)  # fmt: skip
TENSOR_PREFIX = "sm__ops_path_tensor_"
STALL = re.compile(
    r"smsp__average_warps_issue_stalled_([a-z_]+?)(?:_per_issue_active)\.ratio",
)
_TENSOR_COUNT = re.compile(rf"{TENSOR_PREFIX}\w+\.sum")
_TRIAGE = re.compile(r"[A-Za-z0-9_]+\.Triage[A-Za-z0-9]*\.")

THROUGHPUTS: Mapping[str, str] = {
    "sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "memory": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
}
"""By what they are of: the largest of a breakdown's parts, not a rate over a peak."""

_ATTRIBUTES = (
    "compute_capability_major", "compute_capability_minor", "multiprocessor_count", "clock_rate",
    "memory_clock_rate", "global_memory_bus_width", "l2_cache_size", "total_memory",
    "max_shared_memory_per_block_optin", "max_shared_memory_per_multiprocessor",
    "max_threads_per_multiprocessor", "max_blocks_per_multiprocessor",
    "max_registers_per_multiprocessor", "reserved_shared_memory_per_block", "max_threads_per_block",
)  # fmt: skip


def _rolled(base: str, dimension: Dimension, rate: Dimension | None = None) -> dict[str, Dimension]:
    """A counter's sum, and its sum per second and per cycle."""
    rolled = {f"{base}.sum": dimension, f"{base}.sum.per_cycle_elapsed": dimension}
    if rate is not None:
        rolled[f"{base}.sum.per_second"] = rate
    return rolled


def _wanted() -> dict[str, Dimension]:
    count, amount, rate = Dimension.COUNT, Dimension.BYTES, Dimension.BYTE_RATE
    wanted = {TIME: Dimension.TIME, MEAN_TIME: Dimension.TIME}
    for base in (
        "dram__bytes", "dram__bytes_read", "dram__bytes_write", "dram__bytes_op_read",
        "dram__bytes_op_write", "derived__lts__lts2xbar_bytes", "lts__t_bytes",
        "l1tex__m_xbar2l1tex_read_bytes", "l1tex__m_l1tex2xbar_write_bytes", "l1tex__t_bytes",
    ):  # fmt: skip
        wanted |= _rolled(base, amount, rate)
    for base in (
        "dram__sectors_read", "dram__sectors_write", "dram__sectors_op_read",
        "dram__sectors_op_write", "lts__lts2xbar_cycles_active",
        "l1tex__lsu_writeback_active_mem_lgds", "l1tex__lsu_writeback_active_mem_lg",
        "l1tex__lsu_writeback_active", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st", "l1tex__t_requests_pipe_lsu_mem_global_op_ld",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st",
    ):  # fmt: skip
        wanted |= _rolled(base, count, Dimension.FREQUENCY)
    for scope in ("smsp", "sm"):
        for op in ARITHMETIC_OPS:
            wanted |= _rolled(f"{scope}__sass_thread_inst_executed_op_{op}_pred_on", count)
        wanted[f"{scope}__cycles_elapsed.avg"] = count
        wanted[f"{scope}__cycles_elapsed.max"] = count
        wanted[f"{scope}__cycles_elapsed.avg.per_second"] = Dimension.FREQUENCY
        wanted |= _rolled(f"{scope}__inst_executed_pipe_xu", count)
        wanted |= _rolled(f"{scope}__inst_executed", count)
    for op, doubled in (("ffma", 2), ("dfma", 2), ("hadd", 2), ("hmul", 2), ("hfma", 4)):
        wanted[f"derived__smsp__sass_thread_inst_executed_op_{op}_pred_on_x{doubled}"] = count
    for clock in ("gpc__cycles_elapsed", "dram__cycles_elapsed", "lts__cycles_elapsed"):
        wanted[f"{clock}.avg.per_second"] = Dimension.FREQUENCY
    wanted["gpc__cycles_elapsed.max"] = count
    wanted["dram__bytes.sum.peak_sustained"] = amount
    wanted |= dict.fromkeys(THROUGHPUTS.values(), Dimension.FRACTION)
    wanted |= dict.fromkeys(
        (
            "sm__warps_active.avg.pct_of_peak_sustained_active",
            "sm__maximum_warps_per_active_cycle_pct",
            "lts__t_sector_hit_rate.pct",
            "l1tex__t_sector_hit_rate.pct",
            "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        ),
        Dimension.FRACTION,
    )
    wanted |= {
        f"launch__{what}": count
        for what in (
            "registers_per_thread", "block_size", "grid_size", "thread_count", "sm_count",
            "waves_per_multiprocessor", "block_dim_x", "block_dim_y", "block_dim_z", "grid_dim_x",
            "grid_dim_y", "grid_dim_z",
        )
    }  # fmt: skip
    for part in ("static", "dynamic", "driver"):
        wanted[f"launch__shared_mem_per_block_{part}"] = amount
    return wanted | {f"device__attribute_{name}": count for name in _ATTRIBUTES}


WANTED: Mapping[str, Dimension] = _wanted()
CARD_NAME = "device__attribute_display_name"

# What the details page and older versions call them; the same name may stand in two sections with
# different units.
_DISPLAYED: Mapping[tuple[str, Dimension], str] = {
    ("duration", Dimension.TIME): TIME,
    ("elapsed cycles", Dimension.COUNT): "gpc__cycles_elapsed.max",
    ("memory throughput", Dimension.BYTE_RATE): DRAM_RATE,
    ("registers per thread", Dimension.COUNT): "launch__registers_per_thread",
    ("block size", Dimension.COUNT): "launch__block_size",
    ("grid size", Dimension.COUNT): "launch__grid_size",
    ("threads", Dimension.COUNT): "launch__thread_count",
    ("# sms", Dimension.COUNT): "launch__sm_count",
    ("waves per sm", Dimension.COUNT): "launch__waves_per_multiprocessor",
    ("executed instructions", Dimension.COUNT): "smsp__inst_executed.sum",
    ("theoretical occupancy", Dimension.FRACTION): "sm__maximum_warps_per_active_cycle_pct",
    (
        "achieved occupancy",
        Dimension.FRACTION,
    ): "sm__warps_active.avg.pct_of_peak_sustained_active",
    ("l2 hit rate", Dimension.FRACTION): "lts__t_sector_hit_rate.pct",
    ("l1/tex hit rate", Dimension.FRACTION): "l1tex__t_sector_hit_rate.pct",
    **{
        (f"{part} shared memory per block", Dimension.BYTES): f"launch__shared_mem_per_block_{part}"
        for part in ("static", "dynamic", "driver")
    },
    ("sm frequency", Dimension.FREQUENCY): "gpc__cycles_elapsed.avg.per_second",
    **dict.fromkeys(
        (("dram frequency", Dimension.FREQUENCY), ("memory frequency", Dimension.FREQUENCY)),
        "dram__cycles_elapsed.avg.per_second",
    ),
    **{
        (name, Dimension.FRACTION): THROUGHPUTS[level]
        for level, names in {
            "sm": ("compute (sm) throughput", "compute (sm) [%]", "sm [%]", "sol sm"),
            "memory": ("memory throughput", "memory [%]", "sol memory"),
            "dram": ("dram throughput", "sol dram", "sol fb"),
            "l2": ("l2 cache throughput", "sol l2", "sol l2 cache"),
            "l1": ("l1/tex cache throughput", "sol l1/tex cache", "sol tex"),
        }.items()
        for name in names
    },
}
_DISPLAY_NAMES = frozenset(name for name, _ in _DISPLAYED)

_WHOLE_NAMES = frozenset(
    {"elapsed cycles", "registers per thread", "block size", "grid size", "threads", "# sms",
     "executed instructions"}
)  # fmt: skip
_FRACTIONAL = re.compile(r"\.(?:avg|ratio|pct|max_rate)\b|\.per_|waves_per")


def bare_name(metric: str) -> str:
    """The name without the prefix that collection by triage groups adds."""
    return _TRIAGE.sub("", metric, count=1) if ".Triage" in metric else metric


def dimension_of(metric: str) -> Dimension | None:
    """What a metric id is of; None for one that is not read."""
    known = WANTED.get(metric)
    if known is not None:
        return known
    if _TENSOR_COUNT.fullmatch(metric) is not None or STALL.fullmatch(metric) is not None:
        return Dimension.COUNT
    return None


def is_displayed(name: str) -> bool:
    """Whether a display name is one that is read, whatever its unit."""
    return name.strip().lower() in _DISPLAY_NAMES


def displayed_metric(name: str, dimension: Dimension) -> str | None:
    """The metric id behind a display name whose value is of this dimension; None if not read."""
    return _DISPLAYED.get((name.strip().lower(), dimension))


def is_whole(metric: str) -> bool:
    """Whether a metric in base units has no fractions: sums and launch parameters."""
    if metric.strip().lower() in _WHOLE_NAMES:
        return True
    return "__" in metric and _FRACTIONAL.search(metric) is None
