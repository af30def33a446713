"""Faults to plant in an export, and what of a reading they may not change."""

import csv
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rooflens.analysis.readers.report_file import ReportFile
from rooflens.measurement import Measurement
from rooflens.terms import CacheState

_CELLS = (
    b"", b"n/a", b"nan", b"inf", b"-1", b"1e999", b"1.234.567", b"12,5", b"1.5", b"abc",
    b"\xff\xfe", b"9" * 400, b"(!) nan", b"=cmd()", b"1 234", b"-0", b"0x10", b'"', b"(1, 2, 3)",
)  # fmt: skip
_INSERTED = b'",;.\n\r\0\t 0123456789-e\xff'


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A damaged export. lines: those (from 0) that the damage touches, in the original; None for
    damage that only moves things."""

    kind: str
    data: bytes
    lines: frozenset[int] | None


def mutate(data: bytes, random_source: random.Random) -> Mutant:
    """One fault of a kind, at a place, both drawn at random."""
    kind = random_source.choice(list(_KINDS))
    changed, lines = _KINDS[kind](data, random_source)
    return Mutant(kind=kind, data=changed, lines=lines)


_Fault = Callable[[bytes, random.Random], tuple[bytes, frozenset[int] | None]]


def _byte(change: Callable[[int, random.Random], bytes]) -> _Fault:
    def fault(data: bytes, source: random.Random) -> tuple[bytes, frozenset[int] | None]:
        place = source.randrange(len(data))
        line = data.count(b"\n", 0, place)
        changed = data[:place] + change(data[place], source) + data[place + 1 :]
        # A line's end that goes, or comes, concerns the line after it too.
        return changed, frozenset((line, line + 1))

    return fault


def _cell(data: bytes, source: random.Random) -> tuple[bytes, frozenset[int] | None]:
    lines = data.splitlines(keepends=True)
    line = source.randrange(len(lines))
    cells = lines[line].rstrip(b"\n").split(b'","')
    cells[source.randrange(len(cells))] = source.choice(_CELLS)
    lines[line] = b'","'.join(cells) + b"\n"
    return b"".join(lines), frozenset((line, line + 1))


def _lost_line(data: bytes, source: random.Random) -> tuple[bytes, frozenset[int] | None]:
    lines = data.splitlines(keepends=True)
    line = source.randrange(len(lines))
    del lines[line]
    return b"".join(lines), frozenset((line,))


def _cut_line(data: bytes, source: random.Random) -> tuple[bytes, frozenset[int] | None]:
    lines = data.splitlines(keepends=True)
    line = source.randrange(len(lines))
    end = b"\n" if source.random() < 0.5 else b""
    lines[line] = lines[line][: source.randrange(len(lines[line]))] + end
    return b"".join(lines), frozenset((line, line + 1))


def _cut_off(data: bytes, source: random.Random) -> tuple[bytes, frozenset[int] | None]:
    place = source.randrange(len(data))
    line = data.count(b"\n", 0, place)
    return data[:place], frozenset(range(line, data.count(b"\n") + 1))


def _twice(data: bytes, source: random.Random) -> tuple[bytes, frozenset[int] | None]:
    lines = data.splitlines(keepends=True)
    line = source.randrange(len(lines))
    lines.insert(line, lines[line])
    return b"".join(lines), None


def _columns(data: bytes, source: random.Random) -> tuple[bytes, frozenset[int] | None]:
    """Two columns change places, in all rows that have both."""
    lines = data.decode().splitlines()
    header = next(line for line in lines if '"Kernel Name"' in line)
    names = header.split('","')
    width = names.index("Metric Value") + 1 if "Metric Value" in names else len(names)
    one, other = source.randrange(width), source.randrange(width)
    swapped = []
    for line in lines:
        cells = next(csv.reader([line])) if line.startswith('"') else []
        if len(cells) >= width:
            cells[one], cells[other] = cells[other], cells[one]
            swapped.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
        else:
            swapped.append(line)
    return "\n".join(swapped).encode(), None


_KINDS: Mapping[str, _Fault] = {
    "byte flipped": _byte(lambda _, source: bytes([source.randrange(256)])),
    "bit flipped": _byte(lambda old, source: bytes([old ^ (1 << source.randrange(8))])),
    "byte lost": _byte(lambda _old, _source: b""),
    "byte inserted": _byte(lambda old, source: bytes([source.choice(_INSERTED), old])),
    "cell replaced": _cell,
    "line lost": _lost_line,
    "line cut": _cut_line,
    "file cut off": _cut_off,
    "line twice": _twice,
    "columns swapped": _columns,
}


def numbers_of(measurement: Measurement) -> dict[str, object]:
    """Every number that a launch was read to have, by its name."""
    report = measurement.report
    assert report is not None
    times = measurement.times.get(CacheState.REPORTED)
    named: dict[str, object] = {
        "time": None if times is None else times.samples_s,
        "mean time": report.mean_time_s,
        "registers": report.registers,
        "static shared": report.static_shared_bytes,
        "dynamic shared": report.dynamic_shared_bytes,
        "grid": report.grid,
        "block": report.block,
    }
    for what, group in (
        ("bytes", report.traffic_bytes),
        ("flops", report.flops),
        ("tensor", report.tensor_ops),
        ("fraction", report.fractions),
        ("stall", report.stall_cycles),
        ("clock", report.clocks_hz),
    ):
        named |= {f"{what} {name}": value for name, value in group.items()}
    return {name: value for name, value in named.items() if value is not None}


def changed_numbers(read: ReportFile, whole: ReportFile) -> dict[str, dict[str, object]]:
    """By launch ("file line: kernel"), the numbers that the undamaged export gives to none of its
    launches of that name.

    An absent number is no changed one; nor is one within a thousandth, as what is worked out from
    another metric when the first one's name is damaged.
    """
    known: dict[str, list[dict[str, object]]] = {}
    for one in whole.measurements:
        known.setdefault(_full_name(one), []).append(numbers_of(one))
    changed: dict[str, dict[str, object]] = {}
    for one in read.measurements:
        mine = numbers_of(one)
        candidates = known.get(_full_name(one), [])
        wrong = [
            {
                name: value
                for name, value in mine.items()
                if name in other and not _near(value, other[name])
            }
            for other in candidates
        ]
        least = min(wrong, key=len, default=mine)
        if least:
            assert one.report is not None
            changed[f"{one.report.source.row}: {_full_name(one)[:40]}"] = least
    return changed


def _near(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3)
    return one == other


def _full_name(measurement: Measurement) -> str:
    assert measurement.report is not None
    return measurement.report.kernel_name
