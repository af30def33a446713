"""Tables of a profiler's output among the lines around them.

A header is known by its column names; the rows below it by their width and first cell. What belongs
to no table (the profiler's remarks, the application's own output) is handed on as it is. A row that
is damaged is an error with its line: cells are never moved to other columns.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from rooflens.errors import DataFormatError

MAX_LINE_CHARACTERS = 64 * 2**20
_MAX_CELL_LINES = 64
_DELIMITERS = (",", ";", "\t")
_ROW_START = re.compile(r'"?\d*"?[,;\t]')
_HEADER_WORDS = ("Kernel Name", "Source", "Function Name", "Demangled Name")
_WITH_UNIT = re.compile(r"(.+?) \[([^\[\]]*)\]")
_KERNEL_NAMES = ("Kernel Name", "Demangled Name", "Function Name")
_GUI_NAMES = (("Device Name", "device__attribute_display_name"), ("Process", "Process Name"))
ACTIVE_THREADS = "Predicated-On Thread Instructions Executed"
"""The count of a source page."""

_OF_RULES = ("Rule ", "Estimated Speedup")
_SHOWN = 60


class Shape(StrEnum):
    """What a table's rows are."""

    LONG = "one row per metric"
    SUMMARY = "one row per metric and kernel, over its launches"
    WIDE = "one row per launch"
    SOURCE = "one row per instruction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A table's column names and the line that they stand in.

    required: cells that a row must have at least; long rows stop after their value. units: of the
    columns, where their names carry them.
    """

    names: tuple[str, ...]
    line: int
    shape: Shape
    delimiter: str
    quoted: bool
    required: int
    title: str | None = None
    units: tuple[str, ...] | None = None

    def place(self, name: str) -> int | None:
        """The index of a column, or None."""
        return self.names.index(name) if name in self.names else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Cells in the order of the header. cut: the file ends in the last cell, which may lack its
    end."""

    cells: list[str]
    line: int
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """A line that belongs to no table. broken: the file ends within this row."""

    text: str
    line: int
    broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    number: int
    ended: bool


def scan(text: str, *, path: str) -> Iterator[Header | Row | Other]:
    """Headers, their rows and other lines in file order.

    DataFormatError names the line of a row that is longer or shorter than its header allows, or
    whose quotes do not close, except for a last line that the file's end cuts off.
    """
    lines = _lines(text, path)
    header: Header | None = None
    title: str | None = None
    for line in lines:
        found = _header(line, title)
        if found is not None:
            header, title = found, None
            yield found
            continue
        if (named := _source_title(line.text)) is not None:
            title, header = named, None
            continue
        if header is None:
            if line.text.strip():
                yield Other(text=line.text, line=line.number)
            continue
        yield from _row(line, lines, header, path)


def _lines(text: str, path: str) -> Iterator[_Line]:
    start, number = 0, 1
    while start < len(text):
        end = text.find("\n", start)
        ended = end >= 0
        end = end if ended else len(text)
        if end - start > MAX_LINE_CHARACTERS:
            raise DataFormatError(
                f"got a line of {end - start} characters, expected at most {MAX_LINE_CHARACTERS}",
                path=path,
                line=number,
            )
        yield _Line(text=text[start:end].rstrip("\r"), number=number, ended=ended)
        start, number = end + 1, number + 1


def _header(line: _Line, title: str | None) -> Header | None:
    text = line.text.lstrip("\ufeff")
    if not any(word in text for word in _HEADER_WORDS):
        return None
    for delimiter in _DELIMITERS:
        cells = _split(text, delimiter)
        if cells is None:
            continue
        names, units = with_units(tuple(cell.strip() for cell in cells))
        names = names if units is None else gui_names(names)
        shape = _shape(names)
        if shape is not None:
            return Header(
                names=names,
                line=line.number,
                shape=shape,
                delimiter=delimiter,
                quoted=text.lstrip().startswith('"'),
                required=_required(names, shape),
                title=title,
                units=units,
            )
    return None


def with_units(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Names without the units that stand in brackets behind them, and the units; None if none do.

    So the tool's window writes its tables: "gpu__time_duration.sum [us]".
    """
    if not any("__" in name and name.endswith("]") for name in names):
        return names, None
    split = [_WITH_UNIT.fullmatch(name) for name in names]
    return (
        tuple(name if one is None else one[1] for name, one in zip(names, split, strict=True)),
        tuple("" if one is None else one[2] for one in split),
    )


def gui_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """What the window calls the columns, by the names of the command line's pages."""
    called = dict(_GUI_NAMES)
    kernel = next((name for name in _KERNEL_NAMES if name in names), None)
    if kernel is not None:
        called[kernel] = "Kernel Name"
    return tuple(called.get(name, name) for name in names)


def is_kernel_name(name: str) -> bool:
    """Whether a column, or a line of the window's table, holds kernels' names."""
    return name.strip() in _KERNEL_NAMES


def _shape(names: tuple[str, ...]) -> Shape | None:
    known = set(names)
    if {"Kernel Name", "Metric Name"} <= known:
        if "Metric Value" in known:
            return Shape.LONG
        return Shape.SUMMARY if {"Invocations", "Average"} <= known else None
    if "Kernel Name" in known and any("__" in name or name == "ID" for name in names):
        return Shape.WIDE
    return Shape.SOURCE if "Source" in known and len(names) > 4 else None


def _required(names: tuple[str, ...], shape: Shape) -> int:
    """Long rows stop after their value where no rule follows; source rows after their counts."""
    if shape is Shape.LONG:
        return 1 + max(place for place, name in enumerate(names) if not name.startswith(_OF_RULES))
    if shape is Shape.SOURCE:
        return 1 + max(names.index(name) for name in ("Source", ACTIVE_THREADS) if name in names)
    return len(names)


def _source_title(text: str) -> str | None:
    """The kernel of the source table that follows: a line of its own, with one cell beside."""
    if not text.lstrip("\ufeff").startswith(('"Kernel Name"', "Kernel Name")):
        return None
    cells = _split(text.lstrip("\ufeff"), ",")
    if cells is None or cells[0] != "Kernel Name" or len(cells) not in (2, 3) or any(cells[2:]):
        return None
    return cells[1]


def _row(line: _Line, lines: Iterator[_Line], header: Header, path: str) -> Iterator[Row | Other]:
    text, ended = line.text, line.ended
    if not text.strip():
        return
    like_a_row = _like_a_row(text, header)
    if like_a_row and text.count('"') % 2:
        text, ended = _joined(line, lines)
    cells = _split(text, header.delimiter)
    width = None if cells is None else len(cells)
    as_a_row = like_a_row or header.shape in (Shape.SUMMARY, Shape.SOURCE)
    if cells is not None and as_a_row and _fits(cells, header):
        yield Row(cells=cells, line=line.number, cut=not ended and not text.endswith('"'))
        return
    if not ended and like_a_row and (width is None or width < header.required):
        yield Other(text=text, line=line.number, broken=True)
        return
    if not like_a_row and (width is None or width < max(4, header.required // 2)):
        yield Other(text=text, line=line.number)
        return
    raise DataFormatError(_complaint(text, width, header), path=path, line=line.number)


def _complaint(text: str, width: int | None, header: Header) -> str:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    if width is None:
        return f"quotes that do not pair: {shown!r}; export the file again"
    least = "" if header.required == len(header.names) else f"{header.required} or "
    return (
        f"got {width} cells, expected {least}{len(header.names)} as in the header in line "
        f"{header.line}: {shown!r}; a quote or a part of the line may be lost: export again"
    )


def _like_a_row(text: str, header: Header) -> bool:
    """Whether a line starts as this table's rows do: an ID, or none in a row of units."""
    if header.quoted != text.startswith('"'):
        return False
    if header.names[0] in ("ID", "Process ID"):
        return _ROW_START.match(text) is not None
    return True


def _fits(cells: list[str], header: Header) -> bool:
    """Whether the cells fill the header; empty ones beyond it are a spreadsheet's, and harmless.

    A long table's row is whole, or stops after its value, or is a rule's, which has no metric.
    """
    width, required = len(header.names), header.required
    if len(cells) > width and not any(cells[width:]):
        del cells[width:]
    if not required <= len(cells) <= width:
        return False
    if header.shape is not Shape.LONG or len(cells) in (required, width):
        return True
    return not any(cells[required:]) or not cells[header.names.index("Metric Name")]


def _joined(line: _Line, lines: Iterator[_Line]) -> tuple[str, bool]:
    """The line with those that its open quote reaches over."""
    parts, quotes, ended = [line.text], line.text.count('"'), line.ended
    while quotes % 2 and len(parts) < _MAX_CELL_LINES:
        following = next(lines, None)
        if following is None:
            return "\n".join(parts), False
        parts.append(following.text)
        quotes += following.text.count('"')
        ended = following.ended
    return "\n".join(parts), ended


def _split(text: str, delimiter: str) -> list[str] | None:
    """The cells of a line, or None where its quotes do not pair."""
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        cells = text[1:-1].split(f'"{delimiter}"')
        if text.count('"') == 2 * len(cells):  # all quotes are those around cells
            return cells
    try:
        rows = list(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None
