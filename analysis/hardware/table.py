"""The table of known cards, gpu_specs.csv, as HardwareSpecs.

The file is in the units of data sheets (MHz, TFLOP/s, GB/s of 1e9 bytes, MiB, KiB) and is converted
here. `memory_gib`: data sheets say GB but mean GiB; drivers report 139.8 GiB on a card of "141 GB"
and 23.6 on one of "24 GB", so the figure is read as GiB. A blank cell is unknown or unsupported,
and stays absent. Tensor rates are dense.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path

from rooflens.errors import DataFormatError
from rooflens.hardware import Ceiling, HardwareSpec, LaunchLimits
from rooflens.precision import Precision
from rooflens.terms import CeilingBasis, MemoryLevel

TABLE_PATH = Path(__file__).with_name("gpu_specs.csv")

_PEAK_FIELDS = {f"{precision.value}_tera_per_s": precision for precision in Precision}
_FIELDS = (
    "name",
    "architecture",
    "compute_capability",
    "sm_count",
    "boost_clock_mhz",
    *_PEAK_FIELDS,
    "memory_gib",
    "bandwidth_gb_per_s",
    "l2_mib",
    "registers_per_sm",
    "shared_kib_per_sm",
    "shared_kib_per_block",
    "threads_per_sm",
    "blocks_per_sm",
    "reserved_shared_bytes_per_block",
    "unverified",
    "notes",
    "sources",
)
_UNVERIFIED = {"K": "common knowledge", "X": "computed"}
_THREADS_PER_BLOCK_SOURCE = "CUDA programming guide: 1024 for every compute capability"


def source_in_words(code: str) -> str | None:
    """What a source code of the table stands for; None for a code that it does not know."""
    if code in _UNVERIFIED:
        return f"{_UNVERIFIED[code]}, unverified"
    if code == "D1":
        return "device attributes read from reports of real cards"
    if re.fullmatch(r"N\d+", code):
        return f"published Nsight Compute report {code[1:]}"
    if re.fullmatch(r"S\d+", code):
        return f"published specification {code[1:]}"
    if re.fullmatch(r"S-\w+", code):
        return f"published specification of the {code[2:]}"
    return None


@cache
def known_cards() -> tuple[HardwareSpec, ...]:
    """Every card of the table that comes with rooflens, in its order."""
    return read_cards(TABLE_PATH)


def read_cards(path: Path) -> tuple[HardwareSpec, ...]:
    """The cards of a table at `path`.

    Raises DataFormatError with line and field for a cell that is not what it should be.
    """
    cards: dict[str, HardwareSpec] = {}
    for row in _rows(path):
        card = _card(row)
        if card.name in cards:
            raise row.error("name", f"{card.name!r} is there twice; keep one")
        cards[card.name] = card
    if not cards:
        raise DataFormatError("has no cards; expected at least one row", path=str(path))
    return tuple(cards.values())


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the table, and how its cells are read."""

    path: str
    line: int
    cells: Mapping[str, str]

    def error(self, field: str, message: str) -> DataFormatError:
        return DataFormatError(message, path=self.path, line=self.line, field=field)

    def text(self, field: str) -> str:
        value = self.cells[field].strip()
        if not value:
            raise self.error(field, "is blank; expected text")
        return value

    def number(self, field: str, *, zero: bool = False) -> Decimal | None:
        cell = self.cells[field].strip()
        if not cell:
            return None
        expected = "a number of at least 0" if zero else "a number above 0"
        try:
            value = Decimal(cell)
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite() or value < 0 or (value == 0 and not zero):
            raise self.error(field, f"got {cell!r}; expected {expected}, or blank if unknown")
        return value

    def whole(self, field: str, unit: int = 1, *, zero: bool = False) -> int | None:
        value = self.number(field, zero=zero)
        if value is None:
            return None
        if value * unit != int(value * unit):
            raise self.error(field, f"got {value}; expected a whole number of {unit}ths")
        return int(value * unit)

    def required(self, field: str, unit: int = 1) -> int:
        value = self.whole(field, unit)
        if value is None:
            raise self.error(field, "is blank; every card needs it")
        return value

    def codes(self) -> tuple[str, ...]:
        codes = tuple(self.text("sources").split(";"))
        for code in codes:
            if source_in_words(code) is None:
                raise self.error(
                    "sources", f"got {code!r}; expected D1, K, X, S<number> or N<number>"
                )
        return codes

    def unverified(self) -> dict[str, str]:
        """The code of each field that is known to be unverified, as in "l2_mib=K"."""
        marks: dict[str, str] = {}
        for word in self.cells["unverified"].split():
            field, _, code = word.partition("=")
            if field not in _FIELDS or code not in _UNVERIFIED or code not in self.codes():
                raise self.error("unverified", f"got {word!r}; expected a field=K or field=X")
            if not self.cells[field].strip():
                raise self.error("unverified", f"{field} is blank: there is nothing to doubt")
            marks[field] = code
        return marks

    def source(self, field: str) -> str:
        code = self.unverified().get(field)
        if code is None:
            return f"gpu_specs: {';'.join(self.codes())}"
        return f"gpu_specs: {code} ({source_in_words(code)})"


def _rows(path: Path) -> Iterator[_Row]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = tuple(next(reader, ()))
            if header != _FIELDS:
                odd = sorted(set(header) ^ set(_FIELDS)) or "their order"
                raise DataFormatError(
                    f"the header is not the table's, see {odd}", path=str(path), line=1
                )
            for cells in reader:
                if len(cells) != len(_FIELDS):
                    raise DataFormatError(
                        f"got {len(cells)} cells; expected {len(_FIELDS)}",
                        path=str(path),
                        line=reader.line_num,
                    )
                yield _Row(str(path), reader.line_num, dict(zip(_FIELDS, cells, strict=True)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataFormatError(f"cannot be read: {error}", path=str(path)) from error


def _card(row: _Row) -> HardwareSpec:
    clock_mhz = row.number("boost_clock_mhz")
    memory = row.whole("memory_gib", 2**30)
    bandwidth = _ceiling(row, "bandwidth_gb_per_s", 9)
    peaks = {
        precision: ceiling
        for field, precision in _PEAK_FIELDS.items()
        if (ceiling := _ceiling(row, field, 12)) is not None
    }
    return HardwareSpec(
        name=row.text("name"),
        architecture=row.text("architecture"),
        limits=_limits(row),
        sm_clock_hz=None if clock_mhz is None else float(clock_mhz * 10**6),
        dram_bytes=memory,
        l2_bytes=row.whole("l2_mib", 2**20),
        bandwidths={} if bandwidth is None else {MemoryLevel.DRAM: bandwidth},
        peaks=peaks,
        sources=_sources(row),
        notes=_notes(row),
    )


def _limits(row: _Row) -> LaunchLimits:
    capability = row.text("compute_capability")
    if not re.fullmatch(r"[1-9]\d*\.\d", capability):
        raise row.error("compute_capability", f"got {capability!r}; expected as in '8.9'")
    major, minor = capability.split(".")
    return LaunchLimits(
        compute_capability=(int(major), int(minor)),
        sm_count=row.required("sm_count"),
        shared_bytes_per_block=row.required("shared_kib_per_block", 1024),
        threads_per_block=1024,
        shared_bytes_per_sm=row.whole("shared_kib_per_sm", 1024),
        threads_per_sm=row.whole("threads_per_sm"),
        blocks_per_sm=row.whole("blocks_per_sm"),
        registers_per_sm=row.whole("registers_per_sm"),
        reserved_shared_bytes_per_block=row.whole("reserved_shared_bytes_per_block", zero=True),
    )


def _ceiling(row: _Row, field: str, power: int) -> Ceiling | None:
    value = row.number(field)
    if value is None:
        return None
    # Decimal keeps 82.6 x 1e12 exact, where a float product is one bit off.
    rate = float(value.scaleb(power))
    return Ceiling(per_s=rate, basis=CeilingBasis.NOMINAL, source=row.source(field))


def _sources(row: _Row) -> dict[str, str]:
    fields = {
        "architecture": "architecture",
        "compute_capability": "compute_capability",
        "sm_count": "sm_count",
        "sm_clock_hz": "boost_clock_mhz",
        "dram_bytes": "memory_gib",
        "l2_bytes": "l2_mib",
        "shared_bytes_per_block": "shared_kib_per_block",
        "shared_bytes_per_sm": "shared_kib_per_sm",
        "threads_per_sm": "threads_per_sm",
        "blocks_per_sm": "blocks_per_sm",
        "registers_per_sm": "registers_per_sm",
        "reserved_shared_bytes_per_block": "reserved_shared_bytes_per_block",
    }
    known = {name: row.source(field) for name, field in fields.items() if row.cells[field].strip()}
    return {**known, "threads_per_block": _THREADS_PER_BLOCK_SOURCE}


def _notes(row: _Row) -> tuple[str, ...]:
    doubt = row.cells["notes"].strip()
    words = "; ".join(f"{code}: {source_in_words(code)}" for code in row.codes())
    return ((doubt,) if doubt else ()) + (f"sources of gpu_specs: {words}",)
