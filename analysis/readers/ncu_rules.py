"""From Nsight Compute's metrics of one launch to bytes, operations and rates, chip by chip.

Sums add up; rates are multiplied by the launch's own time or cycles; ratios are taken as they are.
A fused multiply-add is two operations, a packed one twice that, and tensor counters count
operations already. A quantity whose metrics are not all there is absent, never 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rooflens.analysis.readers.ncu_wanted import STALL, TENSOR_PREFIX, THROUGHPUTS, TIME
from rooflens.precision import Precision
from rooflens.reported import TensorInput
from rooflens.terms import MemoryLevel

Values = Mapping[str, float]
"""Metric id to value in SI base units."""

_SECTOR_BYTES = 32
_CROSSBAR_BYTES = 32
_WRITEBACK_BYTES = 128

# Operations per thread instruction: a packed one works on two lanes.
_OPS: Mapping[Precision, Mapping[str, int]] = {
    Precision.FP32: {"fadd": 1, "fmul": 1, "ffma": 2},
    Precision.FP64: {"dadd": 1, "dmul": 1, "dfma": 2},
    Precision.FP16: {"hadd": 2, "hmul": 2, "hfma": 4},
}
_PACKED_FP32 = {"fadd2": 2, "fmul2": 2, "ffma2": 4}

# sm_75 to sm_89 split off local and global memory, sm_90 shared memory too.
_L1_WRITEBACK = ("_mem_lgds", "_mem_lg", "")
_STALL_PREFIX = "smsp__average_warps_issue_stalled_"
_ACCUMULATED: Mapping[TensorInput, Mapping[str, Precision]] = {
    TensorInput.FP16: {
        "fp16": Precision.FP16_TENSOR_FP16_ACC,
        "fp32": Precision.FP16_TENSOR_FP32_ACC,
    },
    TensorInput.FP8: {
        "fp16": Precision.FP8_TENSOR_FP16_ACC,
        "fp32": Precision.FP8_TENSOR_FP32_ACC,
    },
}
_SPARSITY = ("_sparsity_off", "_sparsity_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A worked-out number and the formula that gave it."""

    value: float
    how: str


@dataclass(slots=True, kw_only=True)
class Quantities:
    """What a launch's metrics say. `how` names the metrics behind each entry by its name."""

    time_s: float | None
    traffic_bytes: Mapping[MemoryLevel, float]
    dram_read_bytes: float | None
    dram_write_bytes: float | None
    flops: Mapping[Precision, float]
    tensor_ops: Mapping[TensorInput, float]
    tensor_precisions: Mapping[Precision, float]
    special_function_instructions: float | None
    fractions: Mapping[str, float]
    stall_cycles: Mapping[str, float]
    clocks_hz: Mapping[str, float]
    how: Mapping[str, str] = field(default_factory=dict)


def work_out(values: Values, capability: tuple[int, int] | None) -> Quantities:
    """All that can be worked out from a launch's metrics; `capability` is (major, minor)."""
    how: dict[str, str] = {}

    def told(name: str, quantity: Quantity | None) -> float | None:
        if quantity is None:
            return None
        how[name] = quantity.how
        return quantity.value

    time_s = values.get(TIME, values.get("gpu__time_duration.avg"))
    traffic = {
        level: value
        for level, quantity in (
            (MemoryLevel.DRAM, _dram(values, time_s)),
            (MemoryLevel.L2, _l2(values, time_s)),
            (MemoryLevel.L1, _l1(values, time_s, capability)),
        )
        if (value := told(f"{level} bytes", quantity)) is not None
    }
    flops = {
        precision: value
        for precision in _OPS
        if (value := told(f"{precision} FLOP", _flops(values, precision, time_s))) is not None
    }
    tensor = {}
    for kind, quantity in tensor_ops(values).items():
        how[f"{kind} tensor operations"] = quantity.how
        tensor[kind] = quantity.value
    return Quantities(
        time_s=time_s,
        traffic_bytes=traffic,
        dram_read_bytes=told("dram read bytes", _one_way(values, time_s, "read")),
        dram_write_bytes=told("dram write bytes", _one_way(values, time_s, "write")),
        flops=flops,
        tensor_ops=tensor,
        tensor_precisions=_accumulated(values),
        special_function_instructions=_first(
            values, "sm__inst_executed_pipe_xu.sum", "smsp__inst_executed_pipe_xu.sum"
        ),
        fractions=dict(_fractions(values)),
        stall_cycles=dict(_stalls(values)),
        clocks_hz=dict(_clocks(values)),
        how=how,
    )


def _first(values: Values, *names: str) -> float | None:
    return next((values[name] for name in names if name in values), None)


def _total(values: Values, base: str, time_s: float | None) -> Quantity | None:
    """A counter's sum, or its rate times the launch's time."""
    if (total := values.get(f"{base}.sum")) is not None:
        return Quantity(value=total, how=f"{base}.sum")
    rate = values.get(f"{base}.sum.per_second")
    if rate is None or time_s is None:
        return None
    return Quantity(value=rate * time_s, how=f"{base}.sum.per_second x {TIME}")


def _scaled(quantity: Quantity | None, factor: int) -> Quantity | None:
    if quantity is None:
        return None
    return Quantity(value=quantity.value * factor, how=f"{quantity.how} x {factor} B")


def _one_way(values: Values, time_s: float | None, way: str) -> Quantity | None:
    """DRAM bytes read or written; newer chips renamed the counter."""
    for base in (f"dram__bytes_{way}", f"dram__bytes_op_{way}"):
        if (found := _total(values, base, time_s)) is not None:
            return found
    for base in (f"dram__sectors_{way}", f"dram__sectors_op_{way}"):
        if (found := _scaled(_total(values, base, time_s), _SECTOR_BYTES)) is not None:
            return found
    return None


def _dram(values: Values, time_s: float | None) -> Quantity | None:
    """Both ways in exact sums where there are any, else the rate over the launch."""
    if (total := values.get("dram__bytes.sum")) is not None:
        return Quantity(value=total, how="dram__bytes.sum")
    read, write = _one_way(values, time_s, "read"), _one_way(values, time_s, "write")
    if read is not None and write is not None:
        return Quantity(value=read.value + write.value, how=f"{read.how} + {write.how}")
    return _total(values, "dram__bytes", time_s)


def _l2(values: Values, time_s: float | None) -> Quantity | None:
    """What L2 sends to the SMs; older reports hold other counters, which `how` names."""
    cycles = _scaled(_total(values, "lts__lts2xbar_cycles_active", time_s), _CROSSBAR_BYTES)
    if cycles is not None:
        return cycles
    for base in (
        "derived__lts__lts2xbar_bytes",
        "lts__t_bytes",
        "l1tex__m_xbar2l1tex_read_bytes",
    ):
        if (found := _total(values, base, time_s)) is not None:
            return found
    return None


def _l1(
    values: Values, time_s: float | None, capability: tuple[int, int] | None
) -> Quantity | None:
    """Cycles in which L1 writes back to the SM, 128 bytes each, by the chip's counter."""
    for part in _L1_WRITEBACK:
        if not part and (capability is None or capability >= (7, 5)):
            continue
        base = f"l1tex__lsu_writeback_active{part}"
        if (found := _scaled(_total(values, base, time_s), _WRITEBACK_BYTES)) is not None:
            return found
    return None


def _flops(values: Values, precision: Precision, time_s: float | None) -> Quantity | None:
    """Additions, multiplications and two for each fused multiply-add, of one precision.

    All three counters must be there. Packed FP32 operations join where the chip counts them.
    """
    terms: list[Quantity] = []
    for op, weight in _OPS[precision].items():
        counted = _executed(values, op, time_s)
        if counted is None:
            return None
        terms.append(Quantity(value=weight * counted.value, how=f"{weight} {counted.how}"))
    if precision is Precision.FP32:
        for op, weight in _PACKED_FP32.items():
            counted = _executed(values, op, time_s)
            if counted is not None:
                terms.append(Quantity(value=weight * counted.value, how=f"{weight} {counted.how}"))
    return Quantity(
        value=sum(term.value for term in terms), how=" + ".join(term.how for term in terms)
    )


def _executed(values: Values, op: str, time_s: float | None) -> Quantity | None:
    """Thread instructions executed: the sum, or the sum per cycle times the cycles."""
    for scope in ("smsp", "sm"):
        name = f"{scope}__sass_thread_inst_executed_op_{op}_pred_on"
        if (total := values.get(f"{name}.sum")) is not None:
            return Quantity(value=total, how=f"{name}.sum")
        per_cycle = values.get(f"{name}.sum.per_cycle_elapsed")
        cycles = _cycles(values, scope, time_s)
        if per_cycle is not None and cycles is not None:
            return Quantity(
                value=per_cycle * cycles.value, how=f"{name}.sum.per_cycle_elapsed x {cycles.how}"
            )
    return _doubled(values, op, time_s)


def _doubled(values: Values, op: str, time_s: float | None) -> Quantity | None:
    """From the derived metric, which is multiplied by the operations already."""
    weight = 4 if op == "hfma" else 2
    name = f"derived__smsp__sass_thread_inst_executed_op_{op}_pred_on_x{weight}"
    per_cycle, cycles = values.get(name), _cycles(values, "smsp", time_s)
    if per_cycle is None or cycles is None:
        return None
    return Quantity(
        value=per_cycle / weight * cycles.value, how=f"{name} / {weight} x {cycles.how}"
    )


def _cycles(values: Values, scope: str, time_s: float | None) -> Quantity | None:
    for rolled in ("avg", "max"):
        if (cycles := values.get(f"{scope}__cycles_elapsed.{rolled}")) is not None:
            return Quantity(value=cycles, how=f"{scope}__cycles_elapsed.{rolled}")
    rate = values.get(f"{scope}__cycles_elapsed.avg.per_second")
    if rate is None or time_s is None:
        return None
    return Quantity(value=rate * time_s, how=f"{scope}__cycles_elapsed.avg.per_second x {TIME}")


def tensor_ops(values: Values) -> dict[TensorInput, Quantity]:
    """Operations of the tensor units by input type, see `_tensor_counters`."""
    names = tuple(name for name in values if name.startswith(TENSOR_PREFIX))
    return {
        kind: Quantity(value=sum(values[name] for name in counters), how=" + ".join(counters))
        for kind, counters in _tensor_counters(names).items()
    }


def _accumulated(values: Values) -> dict[Precision, float]:
    """Those of the tensor operations whose accumulators the counters' names tell."""
    names = tuple(name for name in values if name.startswith(TENSOR_PREFIX))
    totals: dict[Precision, float] = {}
    for kind, counters in _tensor_counters(names).items():
        for name in counters:
            for accumulator, precision in _ACCUMULATED.get(kind, {}).items():
                if f"_dst_{accumulator}" in name:
                    totals[precision] = totals.get(precision, 0.0) + values[name]
    return totals


@lru_cache(maxsize=64)
def _tensor_counters(names: tuple[str, ...]) -> Mapping[TensorInput, tuple[str, ...]]:
    """The counters whose sum is the operations of an input type.

    The totals by source, else by operation: the op-specific counters count the same operations as
    the totals, so never both. Sparse and dense ones join where the total does not stand alone. A
    type that a name lumps with others ("fp4_fp6_fp8") counts as the widest of them.
    """
    found: dict[str, dict[str, str]] = {"": {}, "op_": {}}
    for name in names:
        what = name.removeprefix(TENSOR_PREFIX).removesuffix(".sum")
        found["op_" if what.startswith("op_") else ""][what] = name
    chosen = found[""] or found["op_"]
    counters: dict[TensorInput, tuple[str, ...]] = {}
    for what, name in chosen.items():
        kind = _tensor_input(what)
        stem = next((what.removesuffix(part) for part in _SPARSITY if what.endswith(part)), None)
        if kind is not None and (stem is None or stem not in chosen):
            counters[kind] = (*counters.get(kind, ()), name)
    return counters


_WIDEST_FIRST = (
    TensorInput.FP64,
    TensorInput.TF32,
    TensorInput.FP16,
    TensorInput.BF16,
    TensorInput.FP8,
    TensorInput.FP6,
    TensorInput.FP4,
    TensorInput.INT8,
    TensorInput.INT4,
    TensorInput.INT1,
)


def _tensor_input(what: str) -> TensorInput | None:
    _, source, types = what.partition("src_")
    named = types.partition("_dst_")[0] if source else ""
    words = named.split("_")
    if {"fp16", "bf16", "tf32"} <= set(words):  # sm_75 has FP16 alone
        return TensorInput.FP16
    return next((kind for kind in _WIDEST_FIRST if kind.value in words), None)


def _fractions(values: Values) -> Iterator[tuple[str, float]]:
    for level, name in THROUGHPUTS.items():
        value = _first(values, name, name.replace("_active", "_elapsed"))
        if value is not None:
            yield f"{level}_throughput", value
    for name, metric in (
        ("theoretical_occupancy", "sm__maximum_warps_per_active_cycle_pct"),
        ("achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
        ("l1_hit_rate", "l1tex__t_sector_hit_rate.pct"),
        ("l2_hit_rate", "lts__t_sector_hit_rate.pct"),
    ):
        if metric in values:
            yield name, values[metric]


def _stalls(values: Values) -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        reason = _stall_reason(name) if name.startswith(_STALL_PREFIX) else None
        if reason is not None:
            yield reason, value


@lru_cache(maxsize=256)
def _stall_reason(name: str) -> str | None:
    found = STALL.fullmatch(name)
    return None if found is None else found[1]


def _clocks(values: Values) -> Iterator[tuple[str, float]]:
    sm = _first(
        values,
        "smsp__cycles_elapsed.avg.per_second",
        "sm__cycles_elapsed.avg.per_second",
        "gpc__cycles_elapsed.avg.per_second",
    )
    if sm is not None:
        yield "sm", sm
    if (dram := values.get("dram__cycles_elapsed.avg.per_second")) is not None:
        yield "dram", dram
