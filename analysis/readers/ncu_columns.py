"""Large raw pages of Nsight Compute, column by column: the plain case, which most of them are.

Arrow splits and converts the table, and `ncu_rules` then works on whole columns. Whatever is not
plain (lines between the rows, a row that does not fit, a decimal comma, a unit that is missing) is
left to the reader of rows, which knows what to say of it; both give the same for the same file.
"""

import contextlib
import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute
from pyarrow import csv

from rooflens.analysis.readers.csv_scan import MAX_LINE_CHARACTERS, Header, Row, Shape, scan
from rooflens.analysis.readers.locale_numbers import DecimalMark, NumberCell, decide_format
from rooflens.analysis.readers.ncu_launches import IDENTITY
from rooflens.analysis.readers.ncu_record import (
    LaunchFacts,
    TimeCell,
    card_of_values,
    distinct_cards,
    measurement_of,
    missing,
)
from rooflens.analysis.readers.ncu_rules import Quantities, work_out
from rooflens.analysis.readers.ncu_values import LEAST_STEP_S, MOST, NO_UNIT, step_of
from rooflens.analysis.readers.ncu_wanted import MEAN_TIME, TIME
from rooflens.analysis.readers.ncu_wide import WideTable
from rooflens.analysis.readers.nvtx_ranges import is_nvtx_column, range_names
from rooflens.analysis.readers.raw_launch import Column, absence, bare_number
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement

LEAST_BYTES = 4_000_000
"""Smaller files gain nothing."""

_BLOCK_BYTES = 1 << 21
_PLAIN = r"^(?:[0-9]{1,20}|[0-9]{1,3}(?:,[0-9]{3}){1,8})(?:\.[0-9]{1,20})?$"
_GROUPED_BY_POINT = r"^[1-9][0-9]{0,2}\.[0-9]{3}$"
_THREADS = 2  # Arrow works outside of the interpreter's lock
_HEAD_LINES = 8 + 2  # enough to tell how numbers are written
_FIRST_ROW_LINE = 3
_START = b'"ID",'
_LAUNCH = ("launch__", "device__attribute_compute_", "device__attribute_multiprocessor_count")

pc: Any = pyarrow.compute  # its functions are made as it is imported

_Floats = npt.NDArray[np.float64]


class _NotPlainError(Exception):
    """The table is for the reader of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """A metric's column in SI units. reasons: why a row has none, where it has none."""

    values: _Floats
    reasons: Mapping[int, str]


def read_columns(path: Path, *, decimal: DecimalMark | None = None) -> ReportFile | None:
    """The launches of a large, plain raw page; None if it is not one, or is odd anywhere."""
    if decimal is DecimalMark.COMMA:
        return None
    try:
        head = _head(path)
        if head is None:
            return None
        with _no_collection():
            return _Page(path, head, decimal).read()
    except (_NotPlainError, DataFormatError, pa.ArrowException, OSError, UnicodeDecodeError):
        return None


def _head(path: Path) -> str | None:
    """The first lines of a file that may be such a page and whose last line is whole."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) < LEAST_BYTES:
            return None
        file.seek(-1, os.SEEK_END)
        ended = file.read(1) == b"\n"
        file.seek(0)
        if not ended or file.read(len(_START)) != _START:
            return None
        file.seek(0)
        lines = [file.readline(MAX_LINE_CHARACTERS) for _ in range(_HEAD_LINES)]
    return b"".join(lines).decode("ascii")


def _plain_lines(path: Path) -> int:
    """The lines of a file; _NotPlainError if it holds a zero byte, which text of one byte a
    character does not."""
    lines, block = 0, bytearray(_BLOCK_BYTES)
    with path.open("rb", buffering=0) as file:
        while (size := file.readinto(block)) > 0:
            lines += block.count(b"\n", 0, size)
            if block.find(b"\0", 0, size) >= 0:
                raise _NotPlainError
    return lines


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Ten thousand records of plain data hold no cycles, and looking for them takes a third of the
    time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Page:
    """One table: what its first rows tell, and its columns as texts."""

    def __init__(self, path: Path, head: str, decimal: DecimalMark | None) -> None:
        self._path, self._name = path, path.name
        parts = list(scan(head, path=path.name))
        header, units, *rows = parts
        if not isinstance(header, Header) or not isinstance(units, Row):
            raise _NotPlainError
        if header.shape is not Shape.WIDE or header.units or units.cells[0] or not header.quoted:
            raise _NotPlainError
        self._header = header
        self._table = WideTable(header, units, self._name)
        witnesses: list[NumberCell] = []
        for row in rows:
            if not isinstance(row, Row):
                raise _NotPlainError
            witnesses.extend(self._table.witnesses(row))
        self._numbers = decide_format(witnesses, path=self._name, forced=decimal)
        if self._numbers.decimal is not DecimalMark.POINT:
            raise _NotPlainError
        self._arrow = self._split()

    def _split(self) -> pa.Table:
        """The columns that are needed, as texts; each line must be a row."""
        names = [str(place) for place in range(len(self._header.names))]
        needed = [names[place] for place in sorted(self._places())]
        with ThreadPoolExecutor(1) as thread:
            lines = thread.submit(_plain_lines, self._path)
            table = self._table_of(names, needed)
        if table.num_rows != lines.result() - (_FIRST_ROW_LINE - 1):
            raise _NotPlainError
        return table.combine_chunks()

    def _table_of(self, names: list[str], needed: list[str]) -> pa.Table:
        return csv.read_csv(
            pa.OSFile(str(self._path)),
            read_options=csv.ReadOptions(
                column_names=names, skip_rows=_FIRST_ROW_LINE - 1, block_size=_BLOCK_BYTES
            ),
            parse_options=csv.ParseOptions(ignore_empty_lines=False, newlines_in_values=False),
            convert_options=csv.ConvertOptions(
                include_columns=needed,
                column_types=dict.fromkeys(needed, pa.string()),
                strings_can_be_null=False,
            ),
        )

    def _places(self) -> set[int]:
        places = {column.place for column in self._table.columns}
        places |= {place for _, place in self._table.others}
        places |= {
            place
            for place, name in enumerate(self._header.names)
            if name in IDENTITY or is_nvtx_column(name)
        }
        return places if self._table.card_place is None else places | {self._table.card_place}

    def _texts(self, place: int) -> Any:
        return self._arrow.column(str(place)).chunk(0)

    def read(self) -> ReportFile:
        """All launches. _NotPlainError or DataFormatError where a cell is odd."""
        if not pc.all(pc.match_substring_regex(self._texts(0), "^[0-9]+$")).as_py():
            raise _NotPlainError
        metrics = [column.metric for column in self._table.columns]
        with ThreadPoolExecutor(_THREADS) as threads:
            numbers = threads.map(self._column, self._table.columns)
            columns = dict(zip(metrics, numbers, strict=True))
        rows = _Rows(
            path=self._name,
            identities=self._identities(),
            ranges=self._ranges(),
            cards=self._card_names(),
            steps=cache(self._steps),
        )
        found: dict[int, Measurement] = {}
        cards: dict[int, ReportedCard] = {}
        first = rows.first_of_cards()
        for group, reasons in _alike(columns, [one.get("CC", "") for one in rows.identities]):
            values = {
                metric: numbers.values[group]
                for metric, numbers in columns.items()
                if metric not in reasons
            }
            found.update(zip(group, rows.measurements(group, values, reasons), strict=True))
            for place, row in enumerate(group):
                if (card := first.get(row)) is not None:
                    told = {name: float(one[place]) for name, one in values.items()}
                    cards[row] = card_of_values(card, told)
        return ReportFile(
            measurements=tuple(found[row] for row in range(len(rows.identities))),
            cards=distinct_cards(cards[row] for row in sorted(cards)),
            notes=(f"numbers: {self._numbers.reason}",),
        )

    def _column(self, column: Column) -> _Numbers:
        """A metric's cells; those that are no plain numbers are read one by one."""
        texts = self._texts(column.place)
        for metric, place in self._table.others:
            if metric == column.metric:
                texts = pc.if_else(pc.equal(texts, ""), self._texts(place), texts)
        numbers, reasons = self._converted(texts)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() <= MOST:
            raise _NotPlainError
        if column.whole and np.any(numbers % 1) and _any_match(texts, _GROUPED_BY_POINT):
            raise _NotPlainError
        if column.unit is None:
            return _Numbers(
                values=numbers,
                reasons={row: reasons.get(row, NO_UNIT) for row in range(len(numbers))},
            )
        if column.lacks_unit and len(reasons) < len(numbers):
            raise _NotPlainError
        return _Numbers(values=numbers * column.unit.times / column.unit.over, reasons=reasons)

    def _converted(self, texts: Any) -> tuple[_Floats, dict[int, str]]:
        """Numbers (0 where there is none), and why there is none, by row."""
        with contextlib.suppress(pa.ArrowInvalid):  # without separators, as most are
            return pc.cast(texts, pa.float64()).to_numpy(), {}
        plain = pc.match_substring_regex(texts, _PLAIN)
        digits = pc.if_else(plain, pc.replace_substring(texts, ",", ""), "0")
        numbers: _Floats = pc.cast(digits, pa.float64()).to_numpy().copy()
        odd = np.flatnonzero(~plain.to_numpy(zero_copy_only=False))
        reasons: dict[int, str] = {}
        for row, text in zip(odd.tolist(), texts.take(pa.array(odd)).to_pylist(), strict=True):
            reason = absence(text)
            number = self._numbers.parse(bare_number(text)) if reason is None else 0.0
            if number is None:
                raise _NotPlainError
            numbers[row] = number
            if reason is not None:
                reasons[row] = reason
        return numbers, reasons

    def _steps(self, metric: str) -> list[float]:
        """What the last digit of each row's time is worth."""
        column = next((one for one in self._table.columns if one.metric == metric), None)
        if column is None:
            return [LEAST_STEP_S] * self._arrow.num_rows
        texts = self._texts(column.place).to_pylist()
        return [step_of(text, column.unit, DecimalMark.POINT.character) for text in texts]

    def _identities(self) -> list[dict[str, str]]:
        names = [name for name in self._header.names if name in IDENTITY]
        places = [place for place, name in enumerate(self._header.names) if name in IDENTITY]
        texts = [self._texts(place).to_pylist() for place in places]
        return [dict(zip(names, row, strict=True)) for row in zip(*texts, strict=True)]

    def _ranges(self) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = [()] * self._arrow.num_rows
        for place, name in enumerate(self._header.names):
            if is_nvtx_column(name):
                cells = self._texts(place).to_pylist()
                found = [
                    (*before, *range_names(name, cell))
                    for before, cell in zip(found, cells, strict=True)
                ]
        return found

    def _card_names(self) -> list[str | None]:
        place = self._table.card_place
        if place is None:
            return [None] * self._arrow.num_rows
        return [text or None for text in self._texts(place).to_pylist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What the rows hold beside their numbers, each by row."""

    path: str
    identities: Sequence[Mapping[str, str]]
    ranges: Sequence[tuple[str, ...]]
    cards: Sequence[str | None]
    steps: Callable[[str], Sequence[float]]

    def measurements(
        self, rows: Sequence[int], values: Mapping[str, _Floats], reasons: Mapping[str, str]
    ) -> Iterator[Measurement]:
        """The records of rows that have the same metrics, and lack others for the same reasons."""
        if all(metric.startswith(("launch__", "device__")) for metric in values):
            raise _NotPlainError
        adds, multiplies = (_executed(values, op, len(rows)) for op in ("hadd", "hmul"))
        counts = _by_row({name: one for name, one in values.items() if name.startswith(_LAUNCH)})
        facts = [
            LaunchFacts(
                line=row + _FIRST_ROW_LINE,
                identity=self.identities[row],
                ranges=self.ranges[row],
                card=self.cards[row],
                counts=dict(next(counts)),
                launches=1,
                converts_halves=adds[place],
                multiplies_halves=multiplies[place],
            )
            for place, row in enumerate(rows)
        ]
        capability = facts[0].device.compute_capability
        quantities = work_out(cast(Mapping[str, float], values), capability)
        absent = missing(quantities, reasons)
        metric = TIME if TIME in values else MEAN_TIME
        steps = self.steps(metric)
        for fact, row, one in zip(facts, rows, _each(quantities, len(rows)), strict=True):
            if fact.device.compute_capability != capability:
                raise _NotPlainError
            time = TimeCell(metric=metric, step_s=steps[row], is_median=True)
            yield measurement_of(fact, one, absent=absent, time=time, path=self.path)

    def first_of_cards(self) -> dict[int, str]:
        """The first row of each card and device number, and the card's name."""
        first: dict[tuple[str, str | None], int] = {}
        for row, card in enumerate(self.cards):
            if card is not None:
                first.setdefault((card, self.identities[row].get("Device")), row)
        return {row: card for (card, _), row in first.items()}


def _any_match(texts: Any, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _alike(
    columns: Mapping[str, _Numbers], capabilities: Sequence[str]
) -> Iterator[tuple[list[int], dict[str, str]]]:
    """Rows of one compute capability that lack the same metrics for the same reasons, and these."""
    count = len(capabilities)
    odd = [metric for metric, numbers in columns.items() if numbers.reasons]
    by_column = [[columns[metric].reasons.get(row, "") for row in range(count)] for metric in odd]
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, key in enumerate(zip(capabilities, *by_column, strict=True)):
        groups.setdefault(key, []).append(row)
    for (_, *reasons), rows in groups.items():
        yield rows, {metric: why for metric, why in zip(odd, reasons, strict=True) if why}


def _executed(values: Mapping[str, _Floats], op: str, rows: int) -> list[bool]:
    """For each row, whether any such half instruction was counted."""
    counted = np.zeros(rows, dtype=bool)
    for name, column in values.items():
        if f"_op_{op}_pred_on" in name:
            counted |= column != 0
    return [bool(one) for one in counted]


def _by_row(values: Mapping[str, _Floats]) -> Iterator[Iterator[tuple[str, float]]]:
    """For each row, (name, number) of each column."""
    names, columns = list(values), [column.tolist() for column in values.values()]
    for row in zip(*columns, strict=True):
        yield zip(names, row, strict=True)


def _each(quantities: Quantities, rows: int) -> Iterator[Quantities]:
    """The quantities of each row out of those of whole columns."""

    def listed(mapping: Mapping[Any, float]) -> list[tuple[Any, list[float]]]:
        return [(name, _list(value, rows)) for name, value in mapping.items()]

    def one(value: float | None) -> list[float | None]:
        return [None] * rows if value is None else list(_list(value, rows))

    time, read, write = (
        one(value)
        for value in (quantities.time_s, quantities.dram_read_bytes, quantities.dram_write_bytes)
    )
    special = one(quantities.special_function_instructions)
    traffic, flops, tensor, precisions = (
        listed(mapping)
        for mapping in (
            quantities.traffic_bytes,
            quantities.flops,
            quantities.tensor_ops,
            quantities.tensor_precisions,
        )
    )
    fractions, stalls, clocks = (
        listed(mapping)
        for mapping in (quantities.fractions, quantities.stall_cycles, quantities.clocks_hz)
    )
    for row in range(rows):
        yield Quantities(
            time_s=time[row],
            traffic_bytes={name: values[row] for name, values in traffic},
            dram_read_bytes=read[row],
            dram_write_bytes=write[row],
            flops={name: values[row] for name, values in flops},
            tensor_ops={name: values[row] for name, values in tensor},
            tensor_precisions={name: values[row] for name, values in precisions},
            special_function_instructions=special[row],
            fractions={name: values[row] for name, values in fractions},
            stall_cycles={name: values[row] for name, values in stalls},
            clocks_hz={name: values[row] for name, values in clocks},
            how=quantities.how,
        )


def _list(value: float, rows: int) -> list[float]:
    """A column's numbers; `work_out` was given columns, whatever its types say."""
    numbers: list[float] = np.broadcast_to(np.asarray(value, dtype=np.float64), rows).tolist()
    return numbers
