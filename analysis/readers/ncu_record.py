"""What is known of one launch, out of a row or out of columns -> Measurement."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rooflens.analysis.readers.kernel_names import short_name
from rooflens.analysis.readers.ncu_rules import Quantities
from rooflens.analysis.readers.raw_launch import ABSENCES, capability, triple
from rooflens.analysis.readers.report_file import ReportedCard
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement, TimeSamples
from rooflens.precision import Precision
from rooflens.reported import Report, ReportedDevice, Source
from rooflens.terms import Basis, CacheState, Status

TOOL = "Nsight Compute"

_ATTRIBUTE = "device__attribute_"
_CONSTANTS_A_THREAD = 16
_OPERATIONS_OF_HFMA2 = 4
_METRICS_OF: Mapping[str, tuple[str, ...]] = {
    "time": ("gpu__time_duration",),
    "dram bytes": ("dram__bytes", "dram__sectors"),
    "l2 bytes": ("lts__", "derived__lts__", "l1tex__m_xbar2l1tex"),
    "l1 bytes": ("l1tex__lsu_writeback",),
    "fp32 FLOP": tuple(f"{unit}__sass_thread_inst_executed_op_f" for unit in ("smsp", "sm")),
    "fp64 FLOP": tuple(f"{unit}__sass_thread_inst_executed_op_d" for unit in ("smsp", "sm")),
    "fp16 FLOP": tuple(f"{unit}__sass_thread_inst_executed_op_h" for unit in ("smsp", "sm")),
}


@dataclass(slots=True, kw_only=True)
class LaunchFacts:
    """A launch beside its quantities. identity: the columns before the metrics, by name. counts:
    values of at least the launch__ and device__ metrics. converts_halves, multiplies_halves:
    whether half additions, or multiplications, were counted."""

    line: int
    identity: Mapping[str, str]
    ranges: tuple[str, ...]
    card: str | None
    counts: Mapping[str, float]
    launches: int
    converts_halves: bool
    multiplies_halves: bool

    @property
    def device(self) -> ReportedDevice:
        """The device that it ran on, by its columns or else by its metrics."""
        counted = self.counts.get
        return _device(
            self.identity.get("Device", ""),
            self.card,
            self.identity.get("CC", ""),
            counted("device__attribute_compute_capability_major"),
            counted("device__attribute_compute_capability_minor"),
            counted("launch__sm_count", counted("device__attribute_multiprocessor_count")),
        )

    def whole(self, name: str) -> int | None:
        """A count, if it is there and whole."""
        return _whole(self.counts.get(name))

    def extents(self, what: str) -> tuple[int, int, int] | None:
        """Of the "grid" or a "block"."""
        stated = _triple(self.identity.get(f"{what.capitalize()} Size", ""))
        if stated is not None:
            return stated
        x, y, z = (self.whole(f"launch__{what}_dim_{axis}") for axis in "xyz")
        return None if x is None or y is None or z is None else (x, y, z)


@dataclass(slots=True, kw_only=True)
class TimeCell:
    """The cell of a launch's time: its metric, its last digit's worth, and whether the time is a
    median, as that of a single launch is."""

    metric: str
    step_s: float
    is_median: bool


def measurement_of(
    facts: LaunchFacts,
    quantities: Quantities,
    *,
    absent: Mapping[str, str],
    time: TimeCell,
    path: str,
) -> Measurement:
    """The record of a launch. DataFormatError if its kernel has no name."""
    kernel_name = facts.identity.get("Kernel Name", "")
    if not kernel_name.strip():
        raise DataFormatError("a launch without a kernel's name", path=path, line=facts.line)
    times: dict[CacheState, TimeSamples] = {}
    time_s, mean_s = quantities.time_s, None
    if time_s is None:
        absent = {"time": "the report holds no metric of it", **absent}
    elif time_s <= 0:
        absent = {**absent, "time": "the report says 0"}
    elif time.is_median:
        times[CacheState.REPORTED] = TimeSamples(
            samples_s=(time_s,),
            method=_method(time.metric),
            launches_per_sample=1,
            correction_s=0.0,
            resolution_s=time.step_s,
            stopped_by="report",
        )
    else:
        mean_s = time_s
        why = f"a summary tells the mean of {facts.launches} launches, not their median"
        absent = {**absent, "time": why}
    grid, block = facts.extents("grid"), facts.extents("block")
    doubtful, notes = _halves(facts, quantities, grid, block)
    device, identity = facts.device, facts.identity
    report = Report(
        kernel_name=kernel_name,
        source=Source(file=path, row=facts.line, tool=TOOL),
        device=device,
        grid=grid,
        block=block,
        thread_count=facts.whole("launch__thread_count"),
        registers=facts.whole("launch__registers_per_thread"),
        static_shared_bytes=facts.whole("launch__shared_mem_per_block_static"),
        dynamic_shared_bytes=facts.whole("launch__shared_mem_per_block_dynamic"),
        process_id=identity.get("Process ID") or None,
        process_name=identity.get("Process Name") or None,
        context=identity.get("Context") or None,
        stream=identity.get("Stream") or None,
        ranges=facts.ranges,
        launches=facts.launches,
        mean_time_s=mean_s,
        traffic_bytes=quantities.traffic_bytes,
        dram_read_bytes=quantities.dram_read_bytes,
        dram_write_bytes=quantities.dram_write_bytes,
        flops=quantities.flops,
        not_arithmetic=doubtful,
        tensor_ops=quantities.tensor_ops,
        tensor_precisions=quantities.tensor_precisions,
        special_function_instructions=quantities.special_function_instructions,
        fractions=quantities.fractions,
        stall_cycles=quantities.stall_cycles,
        clocks_hz=quantities.clocks_hz,
        derivations=quantities.how,
        absent=absent,
    )
    return Measurement(
        kernel=short_name(kernel_name),
        status=Status.OK,
        basis=Basis.IMPORTED,
        architecture=_architecture(device.compute_capability),
        times=times,
        notes=notes,
        report=report,
    )


def missing(quantities: Quantities, absent: Mapping[str, str]) -> dict[str, str]:
    """Why each quantity is absent that could have been there; `absent`: by metric, why."""
    present = {f"{level} bytes" for level in quantities.traffic_bytes}
    present |= {f"{precision} FLOP" for precision in quantities.flops}
    if quantities.time_s is not None:
        present.add("time")
    return {
        quantity: _why(metrics, absent)
        for quantity, metrics in _METRICS_OF.items()
        if quantity not in present
    }


def _why(metrics: tuple[str, ...], absent: Mapping[str, str]) -> str:
    for metric, reason in absent.items():
        if metric.startswith(metrics):
            return f"{metric} is {reason}" if reason in ABSENCES else f"{metric}: {reason}"
    return "the report holds no metric of it"


def executed(values: Mapping[str, float], op: str) -> bool:
    """Whether any such half instruction was counted."""
    return any(value for name, value in values.items() if f"_op_{op}_pred_on" in name)


def card_of_values(name: str, values: Mapping[str, float]) -> ReportedCard:
    """A card with the attributes among a launch's values."""
    return ReportedCard(
        name=name,
        attributes={
            metric.removeprefix(_ATTRIBUTE): value
            for metric, value in values.items()
            if metric.startswith(_ATTRIBUTE)
        },
    )


def distinct_cards(cards: Iterable[ReportedCard]) -> tuple[ReportedCard, ...]:
    """The cards in order, without repetitions."""
    found: list[ReportedCard] = []
    for card in cards:
        if card not in found:
            found.append(card)
    return tuple(found)


def _halves(
    facts: LaunchFacts,
    quantities: Quantities,
    grid: tuple[int, int, int] | None,
    block: tuple[int, int, int] | None,
) -> tuple[tuple[Precision, ...], tuple[str, ...]]:
    """FP16 operations that are no arithmetic, by the look of their number, and what to say of them.

    Compilers load constants with HFMA2: so where there are no half additions or multiplications,
    and few HFMA2 a thread. They convert halves to floats with HADD2, which no counter tells from an
    addition; those stay, with a word.
    """
    counted = quantities.flops.get(Precision.FP16)
    if not counted or facts.multiplies_halves:
        return (), ()
    if facts.converts_halves:
        return (), (_CONVERSIONS,)
    threads = None if grid is None or block is None else math.prod(grid) * math.prod(block)
    if not threads or counted / _OPERATIONS_OF_HFMA2 / threads > _CONSTANTS_A_THREAD:
        return (), ()
    return (Precision.FP16,), (_CONSTANTS,)


_CONVERSIONS = (
    "its FP16 additions may be conversions of halves to floats, which only the machine code tells; "
    "they are in its intensity"
)
_CONSTANTS = (
    "its only FP16 operations are few HFMA2 a thread, with which compilers load constants: they "
    "are left out of its intensity"
)


@lru_cache(maxsize=1024)
def _device(
    index: str,
    card: str | None,
    stated: str,
    major_number: float | None,
    minor_number: float | None,
    sm_count: float | None,
) -> ReportedDevice:
    major, minor = _whole(major_number), _whole(minor_number)
    of_metrics = None if major is None or minor is None else (major, minor)
    return ReportedDevice(
        index=int(index) if index.isascii() and index.isdigit() and len(index) < 6 else None,
        name=card,
        compute_capability=capability(stated) or of_metrics,
        sm_count=_whole(sm_count),
    )


def _whole(number: float | None) -> int | None:
    return int(number) if number is not None and number < 2**53 and number.is_integer() else None


@lru_cache(maxsize=4096)
def _triple(text: str) -> tuple[int, int, int] | None:
    return triple(text)


@lru_cache(maxsize=64)
def _method(metric: str) -> str:
    return f"{metric}, as {TOOL} reports it"


@lru_cache(maxsize=64)
def _architecture(number: tuple[int, int] | None) -> str | None:
    return None if number is None else f"sm_{number[0]}{number[1]}"
