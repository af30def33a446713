"""The source page of Nsight Compute: how often each machine instruction ran, kernel by kernel.

From the instructions alone it tells operations that counters cannot: an HFMA2 that multiplies by
the zero register loads a constant, and an HADD2.F32 converts a half.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rooflens.analysis.readers.csv_scan import ACTIVE_THREADS, Header, Row
from rooflens.analysis.readers.kernel_names import short_name
from rooflens.analysis.readers.ncu_record import TOOL
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement
from rooflens.precision import Precision
from rooflens.reported import Report, Source
from rooflens.terms import Basis, Status

_TEXT = "Source"
_GROUPING = str.maketrans("", "", ",.' \u00a0\u202f\u2009\u2019")
_INSTRUCTION = re.compile(r"\s*(?:@!?U?P[T0-9]+\s+)?([A-Z][A-Z0-9_]*)((?:\.[A-Z0-9_]+)*)\s*(.*)")

# Operations of one thread's instruction. A packed or half one works on two lanes.
_OPERATIONS: Mapping[str, tuple[Precision, int]] = {
    "FADD": (Precision.FP32, 1),
    "FMUL": (Precision.FP32, 1),
    "FFMA": (Precision.FP32, 2),
    "FADD2": (Precision.FP32, 2),
    "FMUL2": (Precision.FP32, 2),
    "FFMA2": (Precision.FP32, 4),
    "FADD32I": (Precision.FP32, 1),
    "FMUL32I": (Precision.FP32, 1),
    "FFMA32I": (Precision.FP32, 2),
    "DADD": (Precision.FP64, 1),
    "DMUL": (Precision.FP64, 1),
    "DFMA": (Precision.FP64, 2),
    "HADD2": (Precision.FP16, 2),
    "HMUL2": (Precision.FP16, 2),
    "HFMA2": (Precision.FP16, 4),
    "HADD2_32I": (Precision.FP16, 2),
    "HMUL2_32I": (Precision.FP16, 2),
    "HFMA2_32I": (Precision.FP16, 4),
}
_TENSOR = (
    "HMMA",
    "IMMA",
    "BMMA",
    "DMMA",
    "QMMA",
    "OMMA",
    "HGMMA",
    "IGMMA",
    "QGMMA",
    "BGMMA",
    "UTC",
)
_PRECISIONS: tuple[Precision, ...] = (Precision.FP32, Precision.FP64, Precision.FP16)
_NOT_THERE: tuple[str, ...] = ("time", "dram bytes", "l2 bytes", "l1 bytes")
_ZERO = ("RZ", "-RZ", "RZ.H0_H0", "-RZ.H0_H0")


@dataclass(slots=True, kw_only=True)
class SourceTable:
    """One kernel's table, as its cells say."""

    kernel_name: str
    line: int
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    text_place: int
    active_place: int | None


def start_table(header: Header) -> SourceTable:
    """The table below a header; its kernel stands in the line above it."""
    return SourceTable(
        kernel_name=header.title or "",
        line=header.line,
        text_place=header.names.index(_TEXT),
        active_place=header.place(ACTIVE_THREADS),
    )


def take_row(table: SourceTable, row: Row) -> None:
    """A row of the table."""
    table.rows.append((row.line, row.cells))


def source_measurements(tables: Iterable[SourceTable], path: str) -> tuple[Measurement, ...]:
    """A row for each table of machine code. The page prints a kernel's table once for each of its
    views, so that a table which says the very same as the one before is that one."""
    found: list[Measurement] = []
    before: SourceTable | None = None
    for table in tables:
        same = before is not None and _cells(before) == _cells(table)
        before = table
        if (
            not same
            and table.kernel_name.strip()
            and (row := _measurement(table, path)) is not None
        ):
            found.append(row)
    return tuple(found)


def join_sources(
    launches: Sequence[Measurement], sources: Sequence[Measurement]
) -> tuple[Measurement, ...]:
    """Launches with the operations that a source page tells of them, then the pages without one.

    Pages are of launches where a kernel's name has as many of both; they are in the same order.
    """
    pages: dict[str, list[Measurement]] = {}
    for source in sources:
        pages.setdefault(_name(source), []).append(source)
    names = [_name(launch) for launch in launches]
    of_launches = {name for name, found in pages.items() if len(found) == names.count(name)}
    following = {name: iter(pages[name]) for name in of_launches}
    joined = [
        _joined(launch, next(following[name])) if name in following else launch
        for launch, name in zip(launches, names, strict=True)
    ]
    alone = (source for source in sources if _name(source) not in of_launches)
    return (*joined, *alone)


def _joined(launch: Measurement, page: Measurement) -> Measurement:
    """Operations that counters lack, and half ones, which the instructions tell from constants."""
    report, told = launch.report, page.report
    if report is None or told is None or not told.flops:
        return launch
    chosen = {
        precision: count
        for precision, count in told.flops.items()
        if precision is Precision.FP16 or precision not in report.flops
    }
    absent = {
        name: why
        for name, why in report.absent.items()
        if name not in {f"{precision} FLOP" for precision in chosen}
    }
    hows = {f"{precision} FLOP": told.derivations[f"{precision} FLOP"] for precision in chosen}
    merged = replace(
        report,
        flops={**report.flops, **chosen},
        not_arithmetic=(),
        derivations={**report.derivations, **hows},
        absent=absent,
    )
    notes = tuple(note for note in launch.notes if "FP16" not in note)
    return replace(launch, report=merged, notes=(*notes, "half operations are the source page's"))


def _name(measurement: Measurement) -> str:
    return "" if measurement.report is None else measurement.report.kernel_name


def _cells(table: SourceTable) -> tuple[str, list[list[str]]]:
    return table.kernel_name, [cells for _, cells in table.rows]


def _measurement(table: SourceTable, path: str) -> Measurement | None:
    """The operations of a table; None if it holds no machine code."""
    flops: dict[Precision, float] = dict.fromkeys(_PRECISIONS, 0.0)
    tensor, instructions = set[str](), 0
    for line, cells in table.rows:
        found = _INSTRUCTION.fullmatch(cells[table.text_place])
        if found is None:
            return None
        opcode, modifiers, operands = found[1], found[2].split(".")[1:], found[3]
        instructions += 1
        if opcode.startswith(_TENSOR):
            tensor.add(opcode)
        if opcode in _OPERATIONS and not _moves_only(opcode, modifiers, operands):
            precision, weight = _OPERATIONS[opcode]
            flops[precision] += weight * _active(table, cells, line, path)
    if not instructions:
        return None
    absent: dict[str, str] = dict.fromkeys(_NOT_THERE, "a source page has none")
    if table.active_place is None or tensor:
        why = f"it runs {', '.join(sorted(tensor))}" if tensor else f"no column {ACTIVE_THREADS!r}"
        absent |= {f"{precision} FLOP": why for precision in flops}
        flops = {}
    how = f"instructions x {ACTIVE_THREADS}, without those that only move or convert"
    return Measurement(
        kernel=short_name(table.kernel_name),
        status=Status.OK,
        basis=Basis.IMPORTED,
        report=Report(
            kernel_name=table.kernel_name,
            source=Source(file=path, row=table.line, tool=TOOL),
            flops=flops,
            derivations={f"{precision} FLOP": how for precision in flops},
            absent=absent,
        ),
    )


def _moves_only(opcode: str, modifiers: Sequence[str], operands: str) -> bool:
    """Whether an instruction loads a constant, or converts: no arithmetic."""
    if opcode.startswith("HADD2") and "F32" in modifiers:
        return True
    if not opcode.startswith("HFMA2"):
        return False
    factors = [operand.strip() for operand in operands.rstrip(" ;").split(",")][1:3]
    return any(factor in _ZERO for factor in factors)


def _active(table: SourceTable, cells: Sequence[str], line: int, path: str) -> float:
    if table.active_place is None:
        return 0.0
    digits = cells[table.active_place].translate(_GROUPING)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise DataFormatError(
            f"got {cells[table.active_place][:40]!r}, expected a count",
            path=path,
            line=line,
            field=ACTIVE_THREADS,
        )
    return float(digits)
