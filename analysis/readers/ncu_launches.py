"""Launches and their metrics out of the tables of an Nsight Compute export.

Cells are gathered as text first, since only the whole file tells how its numbers are written.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rooflens.analysis.readers.csv_scan import Header, Row, Shape
from rooflens.analysis.readers.locale_numbers import NumberCell
from rooflens.analysis.readers.ncu_wanted import (
    CARD_NAME,
    bare_name,
    dimension_of,
    displayed_metric,
    is_displayed,
    is_whole,
)
from rooflens.analysis.readers.report_units import Dimension, Unit, unit_of
from rooflens.errors import DataFormatError

EVIDENCE_ROWS = 32
"""Rows of a wide table whose every cell speaks for how the file writes numbers."""

_ABSENT = {
    "": "empty",
    "n/a": "n/a",
    "na": "n/a",
    "nan": "nan",
    "-nan": "nan",
    "(!) nan": "nan",
    "inf": "inf",
    "-inf": "inf",
    "(!) inf": "inf",
    "no data": "no data",
    "(!) n/a": "n/a",
    "-": "-",
    "error": "error",
}
_SHOWN = 60
_INSTANCES = re.compile(r"\s*[({;].*", re.DOTALL)
_TRIPLE = re.compile(r"\(?\s*(\d{1,10})\s*[,x]\s*(\d{1,10})\s*[,x]\s*(\d{1,10})\s*\)?")
_CAPABILITY = re.compile(r"(\d{1,2})[.,](\d)")
_NVTX_MARKS = ("Push/Pop_Range", "Start/Stop_Range", "Push/Pop", "NVTX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One metric's cell: its text, unit and place. bounds: a summary's minimum and maximum."""

    metric: str
    text: str
    unit: Unit | None
    line: int
    column: str
    bounds: tuple[str, str] | None = None


@dataclass(slots=True, kw_only=True)
class RawLaunch:
    """A launch as its cells say, before numbers are read."""

    line: int
    identity: Mapping[str, str]
    ranges: tuple[str, ...] = ()
    card: str | None = None
    invocations: str | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    def add(self, reading: Reading, path: str) -> None:
        """Take a metric's cell; another that says the same is no news, one that differs is wrong.

        Units may differ from section to section, and then the finer one stays.
        """
        before = self.readings.get(reading.metric)
        if before is None:
            self.readings[reading.metric] = reading
        elif before.text != reading.text and before.unit == reading.unit:
            raise DataFormatError(
                f"two values of one metric: {before.text!r} in line {before.line} and "
                f"{reading.text!r}; are two reports joined in this file?",
                path=path,
                line=reading.line,
                field=reading.column,
            )


def absence(text: str) -> str | None:
    """Why a cell holds no number ("n/a", "nan", "empty" ...), or None if it should hold one."""
    return _ABSENT.get(text.strip().lower())


def bare_number(text: str) -> str:
    """A value without the list of instances that may follow it in brackets."""
    return _INSTANCES.sub("", text.strip(), count=1)


def triple(text: str) -> tuple[int, int, int] | None:
    """(x, y, z) from "(256, 1, 1)" or "256 x 1 x 1", or None."""
    found = _TRIPLE.fullmatch(text.strip())
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


def capability(text: str) -> tuple[int, int] | None:
    """(major, minor) from "9.0", or from "9,0" where the locale says so."""
    found = _CAPABILITY.fullmatch(text.strip())
    return None if found is None else (int(found[1]), int(found[2]))


class Gatherer:
    """Takes the rows of all tables of one file; afterwards holds launches and evidence."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.launches: list[RawLaunch] = []
        self.evidence: list[NumberCell] = []
        self._header: Header | None = None
        self._open: dict[tuple[str, ...], RawLaunch] = {}
        self._columns: list[_Column] | None = None
        self._identity: tuple[tuple[str, int], ...] = ()
        self._nvtx: tuple[tuple[str, int], ...] = ()
        self._rows = 0

    def start(self, header: Header) -> None:
        """A new table begins."""
        self._header, self._open, self._columns, self._rows = header, {}, None, 0
        self._identity = tuple(
            (name, place)
            for place, name in enumerate(header.names)
            if name in _IDENTITY or (not place and name == "ID")
        )
        self._nvtx = tuple(
            (name, place)
            for place, name in enumerate(header.names)
            if any(mark in name for mark in _NVTX_MARKS)
        )

    def take(self, row: Row) -> None:
        """A row of the table that began last."""
        header = self._header
        if header is None:
            return
        if header.shape is Shape.WIDE:
            self._take_wide(header, row)
        elif header.shape is Shape.LONG:
            self._take_long(header, row)
        elif header.shape is Shape.SUMMARY:
            self._take_summary(header, row)

    def _take_wide(self, header: Header, row: Row) -> None:
        if self._columns is None:
            units = _is_units_row(header, row)
            self._columns = list(_columns(header, row if units else None, self.path))
            if units:
                return
        cells = row.cells
        launch = RawLaunch(
            line=row.line,
            identity={name: cells[place] for name, place in self._identity},
            ranges=tuple(cells[place] for _, place in self._nvtx if cells[place]),
        )
        last = len(cells) - 1
        for column in self._columns:
            text = cells[column.place]
            if column.metric == CARD_NAME:
                launch.card = text or None
            elif row.cut and column.place == last:
                launch.unread[column.metric] = "the file ends within it"
            elif column.metric not in launch.readings or not text:
                launch.readings[column.metric] = Reading(
                    metric=column.metric,
                    text=text,
                    unit=column.unit,
                    line=row.line,
                    column=header.names[column.place],
                )
        if self._rows < EVIDENCE_ROWS:
            self._witness_all(header, row)
        self._rows += 1
        self.launches.append(launch)

    def _witness_all(self, header: Header, row: Row) -> None:
        for name, text in zip(header.names, row.cells, strict=True):
            if "__" in name and text and not text.isdigit() and bare_name(name) != CARD_NAME:
                self.evidence.append(NumberCell(text=text, line=row.line, column=name, whole=False))

    def _take_long(self, header: Header, row: Row) -> None:
        launch = self._launch_of(header, row)
        name = _cell(header, row, "Metric Name")
        if name is None or not name.strip():
            return
        text = _cell(header, row, "Metric Value") or ""
        cut = row.cut and header.place("Metric Value") == len(row.cells) - 1
        reading = self._reading(name, text, _cell(header, row, "Metric Unit"), row)
        if reading is None:
            return
        if cut:
            launch.unread[reading.metric] = "the file ends within it"
        else:
            launch.add(reading, self.path)

    def _take_summary(self, header: Header, row: Row) -> None:
        launch = self._launch_of(header, row)
        launch.invocations = _cell(header, row, "Invocations")
        name = _cell(header, row, "Metric Name") or ""
        text = _cell(header, row, "Average") or ""
        reading = self._reading(name, text, _cell(header, row, "Metric Unit"), row)
        if reading is None:
            return
        bounds = (_cell(header, row, "Minimum") or "", _cell(header, row, "Maximum") or "")
        if row.cut:
            launch.unread[reading.metric] = "the file ends within it"
            return
        launch.add(
            Reading(
                metric=reading.metric,
                text=reading.text,
                unit=reading.unit,
                line=reading.line,
                column=reading.column,
                bounds=bounds,
            ),
            self.path,
        )

    def _launch_of(self, header: Header, row: Row) -> RawLaunch:
        identity = {name: row.cells[place] for name, place in self._identity}
        ranges = tuple(row.cells[place] for _, place in self._nvtx if row.cells[place])
        key: tuple[str, ...] = (identity.get("Process ID", ""), identity.get("ID", ""))
        if "ID" not in identity:
            key = (*identity.values(), *ranges)
        launch = self._open.get(key)
        if launch is None:
            launch = RawLaunch(line=row.line, identity=identity, ranges=ranges)
            self._open[key] = launch
            self.launches.append(launch)
        elif launch.identity != identity or launch.ranges != ranges:
            raise DataFormatError(
                f"launch {identity['ID']!r} is not the one of that ID in line {launch.line}: "
                f"{_difference(launch, identity)}; is the row damaged?",
                path=self.path,
                line=row.line,
            )
        return launch

    def _reading(self, name: str, text: str, unit_text: str | None, row: Row) -> Reading | None:
        """The cell of a metric that is read, whether the row gives its id or its display name."""
        metric = bare_name(name.strip())
        unit = unit_of(unit_text or "")
        self.evidence.append(
            NumberCell(
                text=bare_number(text),
                line=row.line,
                column=name,
                whole=_whole(name, unit, dimension_of(metric)),
            )
        )
        wanted = dimension_of(metric)
        if wanted is not None:
            _check_unit(wanted, unit, unit_text, text, metric, row.line, self.path)
        elif metric == CARD_NAME:
            return None
        elif is_displayed(name):
            if unit is None:
                if absence(text) is None:
                    _refuse_unit(unit_text, name, row.line, self.path)
                return None
            found = displayed_metric(name, unit.dimension)
            if found is None:
                return None
            metric = found
        else:
            return None
        return Reading(metric=metric, text=text, unit=unit, line=row.line, column=name)


def _difference(launch: RawLaunch, identity: Mapping[str, str]) -> str:
    """The first column in which two rows of one launch differ, and how."""
    for name, text in identity.items():
        before = launch.identity.get(name, "")
        if before != text:
            return f"{name} {text[:_SHOWN]!r} after {before[:_SHOWN]!r}"
    return "other NVTX ranges"


_IDENTITY = (
    "ID",
    "Process ID",
    "Process Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    place: int
    metric: str
    unit: Unit | None


def _is_units_row(header: Header, row: Row) -> bool:
    """The row of units has no launch's ID and no kernel."""
    places = [header.place(name) for name in ("ID", "Kernel Name")]
    return all(not row.cells[place].strip() for place in places if place is not None)


def _columns(header: Header, units: Row | None, path: str) -> Iterator[_Column]:
    """The columns that are read. Those of one metric stand with the plain name first."""
    exact = {name for name in header.names if bare_name(name) == name}
    for place, name in enumerate(header.names):
        metric = bare_name(name)
        if metric != name and metric in exact:
            continue
        if metric == CARD_NAME:
            yield _Column(place=place, metric=metric, unit=None)
            continue
        wanted = dimension_of(metric)
        if wanted is None:
            continue
        if units is None:
            unit = unit_of("") if wanted is Dimension.COUNT else None
        else:
            text = units.cells[place]
            unit = unit_of(text)
            _check_unit(wanted, unit, text, None, metric, units.line, path)
        yield _Column(place=place, metric=metric, unit=unit)


def _check_unit(
    wanted: Dimension,
    unit: Unit | None,
    unit_text: str | None,
    text: str | None,
    metric: str,
    line: int,
    path: str,
) -> None:
    """DataFormatError for a unit that is unknown, or of another dimension than the metric's.

    A cell with no value needs no unit; one with no unit may be a count, or of no value at all.
    Rates of derived byte metrics may lack their "/s".
    """
    if text is not None and absence(text) is not None:
        return
    if unit is None:
        _refuse_unit(unit_text, metric, line, path)
    elif not _agrees(wanted, unit, unit_text):
        raise DataFormatError(
            f"got unit {unit_text!r}, which is of {unit.dimension}, expected one of {wanted}",
            path=path,
            line=line,
            field=metric,
        )


def _agrees(wanted: Dimension, unit: Unit, unit_text: str | None) -> bool:
    if unit.dimension is wanted or not (unit_text or "").strip():
        return True
    if wanted is Dimension.BYTE_RATE:
        return unit.dimension is Dimension.BYTES
    return wanted is Dimension.COUNT and unit.dimension is Dimension.FREQUENCY


def _refuse_unit(unit_text: str | None, name: str, line: int, path: str) -> None:
    raise DataFormatError(
        f"got unit {unit_text!r}, which is not known; report it, or leave the metric out",
        path=path,
        line=line,
        field=name,
    )


def _whole(name: str, unit: Unit | None, wanted: Dimension | None) -> bool:
    if unit is None or not unit.base:
        return False
    return is_whole(name) or (wanted is Dimension.TIME or name.strip().lower() == "duration")


def _cell(header: Header, row: Row, name: str) -> str | None:
    place = header.place(name)
    return None if place is None or place >= len(row.cells) else row.cells[place]
