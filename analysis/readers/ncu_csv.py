"""Nsight Compute's CSV exports: bytes of a file -> imported measurements, one a launch.

Reads the details and raw pages, tables of chosen metrics, and summaries by kernel or NVTX range,
wherever they stand in a log. A metric that is not there is absent with its reason, never 0.
"""

import math
import re
from collections.abc import Mapping

from rooflens.analysis.readers.csv_scan import Header, Other, Row, Shape, scan
from rooflens.analysis.readers.decoding import Decoded, decode_report
from rooflens.analysis.readers.kernel_names import short_name
from rooflens.analysis.readers.locale_numbers import DecimalMark, decide_format
from rooflens.analysis.readers.ncu_launches import Gatherer
from rooflens.analysis.readers.ncu_rules import Quantities, work_out
from rooflens.analysis.readers.ncu_transposed import transposed
from rooflens.analysis.readers.ncu_values import CellReader, LaunchValues, undecided_cells
from rooflens.analysis.readers.ncu_wanted import MEAN_TIME, TIME
from rooflens.analysis.readers.raw_launch import RawLaunch, Reading, capability, triple
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement, TimeSamples
from rooflens.precision import Precision
from rooflens.reported import Report, ReportedDevice, Source
from rooflens.terms import Basis, CacheState, Status

TOOL = "Nsight Compute"
REFUSED = (
    "every counter is n/a: reading them was refused (it needs permission, or a driver that can)"
)
EXPORT_COMMAND = "ncu --import REPORT.ncu-rep --csv --page raw --print-units base > REPORT.csv"

_SAID_INSTEAD = {
    "ERR_NVGPUCTRPERM": "Nsight Compute was refused the counters (ERR_NVGPUCTRPERM); allow them, "
    "or run it as root",
    "No kernels were profiled": "Nsight Compute profiled no kernels: its filters, or the program, "
    "left none",
}
_CONSTANTS_A_THREAD = 16
_OPERATIONS_OF_HFMA2 = 4
_TEXT_REPORT = re.compile(r"^\s{4,}Section: |^\s{4}-{10,} -{5,}", re.MULTILINE)
_LAUNCH_FACTS = ("launch__", "device__")
_METRICS_OF: Mapping[str, tuple[str, ...]] = {
    "time": ("gpu__time_duration",),
    "dram bytes": ("dram__bytes", "dram__sectors"),
    "l2 bytes": ("lts__", "derived__lts__", "l1tex__m_xbar2l1tex"),
    "l1 bytes": ("l1tex__lsu_writeback",),
    "fp32 FLOP": tuple(f"{unit}__sass_thread_inst_executed_op_f" for unit in ("smsp", "sm")),
    "fp64 FLOP": tuple(f"{unit}__sass_thread_inst_executed_op_d" for unit in ("smsp", "sm")),
    "fp16 FLOP": tuple(f"{unit}__sass_thread_inst_executed_op_h" for unit in ("smsp", "sm")),
}


def read_ncu_csv(
    export: bytes | Decoded, *, name: str, decimal: DecimalMark | None = None
) -> ReportFile:
    """The launches of an export; `name` stands for the file in complaints and sources.

    decimal: how numbers are written, where the file's own evidence does not tell. DataFormatError
    names line and column of what cannot be read, or says what a file without a table holds.
    """
    decoded = export if isinstance(export, Decoded) else decode_report(export)
    gatherer = Gatherer(name)
    others: list[Other] = []
    shapes: dict[Shape, int] = {}
    turned = transposed(decoded.text, path=name)
    for part in scan(decoded.text, path=name) if turned is None else turned:
        if isinstance(part, Header):
            shapes[part.shape] = shapes.get(part.shape, 0) + 1
            gatherer.start(part)
        elif isinstance(part, Row):
            gatherer.take(part)
        else:
            others.append(part)
    if not gatherer.launches:
        raise DataFormatError(_no_launches(shapes, others, decoded.text), path=name)
    numbers = decide_format(
        gatherer.evidence, more=undecided_cells(gatherer.launches), path=name, forced=decimal
    )
    reader = CellReader(numbers, name)
    read = [reader.launch(raw) for raw in gatherer.launches]
    notes = [*decoded.notes, f"numbers: {numbers.reason}"]
    notes += [f"line {one.line} is cut off and left out" for one in others if one.broken]
    if Shape.SOURCE in shapes:
        notes.append("tables of single instructions are not read")
    withheld = any(reason in _WORDS for values in read for reason in values.absent.values())
    if withheld and not any(_counted(values) for values in read):
        notes.append(REFUSED)
    pairs = list(zip(gatherer.launches, read, strict=True))
    return ReportFile(
        measurements=tuple(_measurement(raw, values, reader) for raw, values in pairs),
        cards=_cards(pairs),
        notes=tuple(notes),
    )


def _no_launches(shapes: Mapping[Shape, int], others: list[Other], text: str) -> str:
    """What a file without launches holds instead, and what to do."""
    said = "\n".join(other.text for other in others)
    for phrase, meaning in _SAID_INSTEAD.items():
        if phrase in said:
            return meaning
    if "==ERROR==" in said:
        line = next(one.text for one in others if "==ERROR==" in one.text)
        shown = line.replace("==ERROR==", "").strip()[:200]
        return f"no launches; Nsight Compute failed: {shown!r}"
    if shapes:
        only_source = set(shapes) == {Shape.SOURCE}
        held = "only tables of single instructions" if only_source else "a table without a row"
        return f"{held}, no launches; export with {EXPORT_COMMAND}"
    if _TEXT_REPORT.search(text):
        return f"a report printed as text; make a CSV of it with {EXPORT_COMMAND}"
    return f"no table of Nsight Compute in it; export one with {EXPORT_COMMAND}"


def _counted(values: LaunchValues) -> bool:
    return any(not metric.startswith(_LAUNCH_FACTS) for metric in values.values)


def _cards(pairs: list[tuple[RawLaunch, LaunchValues]]) -> tuple[ReportedCard, ...]:
    """The distinct cards of the launches; those of one name and index are one."""
    prefix = "device__attribute_"
    cards: list[ReportedCard] = []
    seen: set[tuple[str, str | None]] = set()
    for raw, values in pairs:
        if raw.card is None or (key := (raw.card, raw.identity.get("Device"))) in seen:
            continue
        seen.add(key)
        card = ReportedCard(
            name=raw.card,
            attributes={
                metric.removeprefix(prefix): value
                for metric, value in values.values.items()
                if metric.startswith(prefix)
            },
        )
        if card not in cards:
            cards.append(card)
    return tuple(cards)


def _measurement(raw: RawLaunch, read: LaunchValues, reader: CellReader) -> Measurement:
    values = read.values
    device = _device(raw, values)
    quantities = work_out(values, device.compute_capability)
    kernel_name = raw.identity.get("Kernel Name", "")
    if not kernel_name.strip():
        raise DataFormatError("a launch without a kernel's name", path=reader.path, line=raw.line)
    launches = _launches(raw, reader)
    absent = dict(_absent(quantities, read))
    times: dict[CacheState, TimeSamples] = {}
    mean_s: float | None = None
    time_s, reading = quantities.time_s, _time_reading(raw, values)
    if time_s is None or reading is None:
        absent.setdefault("time", "the report holds no metric of it")
    elif time_s <= 0:
        absent["time"] = "the report says 0"
    elif _is_median(reading, launches, reader):
        times[CacheState.REPORTED] = _times(reading, time_s, reader)
    else:
        mean_s = time_s
        absent["time"] = f"a summary tells the mean of {launches} launches, not their median"
    grid, block = _shape(raw, values, "grid"), _shape(raw, values, "block")
    doubtful, notes = _constants(quantities, values, grid, block)
    report = Report(
        kernel_name=kernel_name,
        source=Source(file=reader.path, row=raw.line, tool=TOOL),
        device=device,
        grid=grid,
        block=block,
        thread_count=_whole(values, "launch__thread_count"),
        registers=_whole(values, "launch__registers_per_thread"),
        static_shared_bytes=_whole(values, "launch__shared_mem_per_block_static"),
        dynamic_shared_bytes=_whole(values, "launch__shared_mem_per_block_dynamic"),
        process_id=raw.identity.get("Process ID") or None,
        process_name=raw.identity.get("Process Name") or None,
        context=raw.identity.get("Context") or None,
        stream=raw.identity.get("Stream") or None,
        ranges=raw.ranges,
        launches=launches,
        mean_time_s=mean_s,
        traffic_bytes=quantities.traffic_bytes,
        dram_read_bytes=quantities.dram_read_bytes,
        dram_write_bytes=quantities.dram_write_bytes,
        flops=quantities.flops,
        not_arithmetic=doubtful,
        tensor_ops=quantities.tensor_ops,
        special_function_instructions=quantities.special_function_instructions,
        fractions=quantities.fractions,
        stall_cycles=quantities.stall_cycles,
        clocks_hz=quantities.clocks_hz,
        derivations=quantities.how,
        absent=absent,
    )
    major_minor = device.compute_capability
    return Measurement(
        kernel=short_name(kernel_name),
        status=Status.OK,
        basis=Basis.IMPORTED,
        architecture=None if major_minor is None else f"sm_{major_minor[0]}{major_minor[1]}",
        times=times,
        notes=notes,
        report=report,
    )


def _times(reading: Reading, time_s: float, reader: CellReader) -> TimeSamples:
    return TimeSamples(
        samples_s=(time_s,),
        method=f"{reading.metric}, as {TOOL} reports it",
        launches_per_sample=1,
        correction_s=0.0,
        resolution_s=reader.step_s(reading),
        stopped_by="report",
    )


def _time_reading(raw: RawLaunch, values: Mapping[str, float]) -> Reading | None:
    """The cell of the time that was read."""
    return raw.reading(TIME if TIME in values else MEAN_TIME)


def _launches(raw: RawLaunch, reader: CellReader) -> int:
    if raw.invocations is None:
        return 1
    count = reader.numbers.parse(raw.invocations.strip())
    if count is None or count < 1 or count != int(count):
        raise DataFormatError(
            f"got {raw.invocations[:60]!r}, expected how many launches the row sums up",
            path=reader.path,
            line=raw.line,
            field="Invocations",
        )
    return int(count)


def _is_median(reading: Reading, launches: int, reader: CellReader) -> bool:
    """Whether the mean is the median too: of one launch or two, or of equal ones."""
    if launches <= 2:
        return True
    bounds = reader.bounds(reading)
    return bounds is not None and bounds[0] == bounds[1]


def _device(raw: RawLaunch, values: Mapping[str, float]) -> ReportedDevice:
    index = raw.identity.get("Device", "")
    stated = capability(raw.identity.get("CC", ""))
    if stated is None:
        major = _whole(values, "device__attribute_compute_capability_major")
        minor = _whole(values, "device__attribute_compute_capability_minor")
        stated = None if major is None or minor is None else (major, minor)
    return ReportedDevice(
        index=int(index) if index.isascii() and index.isdigit() and len(index) < 6 else None,
        name=raw.card,
        compute_capability=stated,
        sm_count=_whole(values, "launch__sm_count", "device__attribute_multiprocessor_count"),
    )


def _whole(values: Mapping[str, float], *names: str) -> int | None:
    found = next((values[name] for name in names if name in values), None)
    return int(found) if found is not None and found == int(found) else None


def _shape(raw: RawLaunch, values: Mapping[str, float], what: str) -> tuple[int, int, int] | None:
    stated = triple(raw.identity.get(f"{what.capitalize()} Size", ""))
    if stated is not None:
        return stated
    extents = [_whole(values, f"launch__{what}_dim_{axis}") for axis in "xyz"]
    x, y, z = extents
    return None if x is None or y is None or z is None else (x, y, z)


def _absent(quantities: Quantities, read: LaunchValues) -> list[tuple[str, str]]:
    present = {f"{level} bytes" for level in quantities.traffic_bytes}
    present |= {f"{precision} FLOP" for precision in quantities.flops}
    if quantities.time_s is not None:
        present.add("time")
    return [
        (quantity, _why(metrics, read))
        for quantity, metrics in _METRICS_OF.items()
        if quantity not in present
    ]


def _why(metrics: tuple[str, ...], read: LaunchValues) -> str:
    for metric, reason in read.absent.items():
        if metric.startswith(metrics):
            return f"{metric} is {reason}" if reason in _WORDS else f"{metric}: {reason}"
    return "the report holds no metric of it"


_WORDS = ("n/a", "nan", "inf", "no data", "empty", "-", "error")


def _constants(
    quantities: Quantities,
    values: Mapping[str, float],
    grid: tuple[int, int, int] | None,
    block: tuple[int, int, int] | None,
) -> tuple[tuple[Precision, ...], tuple[str, ...]]:
    """FP16 operations that are no arithmetic, by the look of their number, and what to say of them.

    Compilers load constants with HFMA2: so where there are no half additions or multiplications,
    and few HFMA2 a thread. They convert halves to floats with HADD2, which no counter tells from an
    addition; those stay, with a word.
    """
    counted = quantities.flops.get(Precision.FP16)
    if not counted or _executed(values, "hmul"):
        return (), ()
    if _executed(values, "hadd"):
        note = (
            "its FP16 additions may be conversions of halves to floats, which only the machine "
            "code tells; they are in its intensity"
        )
        return (), (note,)
    threads = None if grid is None or block is None else math.prod(grid) * math.prod(block)
    if not threads or counted / _OPERATIONS_OF_HFMA2 / threads > _CONSTANTS_A_THREAD:
        return (), ()
    note = (
        "its only FP16 operations are few HFMA2 a thread, with which compilers load constants: "
        "they are left out of its intensity"
    )
    return (Precision.FP16,), (note,)


def _executed(values: Mapping[str, float], op: str) -> bool:
    return any(value for name, value in values.items() if f"_op_{op}_pred_on" in name)
