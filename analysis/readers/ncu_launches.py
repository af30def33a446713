"""Launches and their metrics out of the tables of an Nsight Compute export.

Cells are gathered as text first, since only the whole file tells how its numbers are written.
"""

from collections.abc import Mapping, Sequence

from rooflens.analysis.readers.csv_scan import Header, Row, Shape
from rooflens.analysis.readers.locale_numbers import NumberCell
from rooflens.analysis.readers.ncu_source import SourceTable, start_table, take_row
from rooflens.analysis.readers.ncu_wanted import (
    CARD_NAME,
    bare_name,
    dimension_of,
    displayed_metric,
    is_displayed,
    is_whole,
)
from rooflens.analysis.readers.ncu_wide import WideTable
from rooflens.analysis.readers.nvtx_ranges import is_nvtx_column, range_names
from rooflens.analysis.readers.raw_launch import (
    RawLaunch,
    Reading,
    absence,
    bare_number,
    check_unit,
    refuse_unit,
)
from rooflens.analysis.readers.report_units import Dimension, Unit, unit_of
from rooflens.errors import DataFormatError

EVIDENCE_ROWS = 16
"""Rows of a wide table whose every cell speaks for how the file writes numbers."""

_SHOWN = 60


class Gatherer:
    """Takes the rows of all tables of one file; afterwards holds launches and evidence."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.launches: list[RawLaunch] = []
        self.sources: list[SourceTable] = []
        self.evidence: list[NumberCell] = []
        self._header: Header | None = None
        self._open: dict[tuple[str, ...], RawLaunch] = {}
        self._wide: WideTable | None = None
        self._identity: tuple[tuple[str, int], ...] = ()
        self._nvtx: tuple[tuple[str, int], ...] = ()
        self._rows = 0

    def start(self, header: Header) -> None:
        """A new table begins."""
        self._header, self._open, self._wide, self._rows = header, {}, None, 0
        if header.shape is Shape.SOURCE:
            self.sources.append(start_table(header))
        self._identity = tuple(
            (name, place)
            for place, name in enumerate(header.names)
            if name in IDENTITY or (not place and name == "ID")
        )
        self._nvtx = tuple(
            (name, place) for place, name in enumerate(header.names) if is_nvtx_column(name)
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
        else:
            take_row(self.sources[-1], row)

    def _take_wide(self, header: Header, row: Row) -> None:
        if self._wide is None:
            units = row if header.units is None and _is_units_row(header, row) else None
            self._wide = WideTable(header, units, self.path)
            if units is not None:
                return
        if self._rows < EVIDENCE_ROWS:
            self.evidence.extend(self._wide.witnesses(row))
        self._rows += 1
        identity = {name: row.cells[place] for name, place in self._identity}
        self.launches.append(self._wide.launch(row, identity, self._ranges(row.cells)))

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
        ranges = self._ranges(row.cells)
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

    def _ranges(self, cells: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            found for column, place in self._nvtx for found in range_names(column, cells[place])
        )

    def _reading(self, name: str, text: str, unit_text: str | None, row: Row) -> Reading | None:
        """The cell of a metric that is read, whether the row gives its id or its display name."""
        metric = bare_name(name.strip())
        unit = _unit_without_column(metric) if unit_text is None else unit_of(unit_text)
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
            if unit_text is not None:
                check_unit(wanted, unit, unit_text, text, metric, row.line, self.path)
        elif metric == CARD_NAME:
            return None
        elif is_displayed(name):
            if unit is None:
                if unit_text is not None and absence(text) is None:
                    refuse_unit(unit_text, name, row.line, self.path)
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


IDENTITY = (
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


def _is_units_row(header: Header, row: Row) -> bool:
    """The row of units has no launch's ID and no kernel."""
    places = [header.place(name) for name in ("ID", "Kernel Name")]
    return all(not row.cells[place].strip() for place in places if place is not None)


def _unit_without_column(metric: str) -> Unit | None:
    """The unit of a metric in a table without units: that which its name tells, or none."""
    wanted = dimension_of(metric)
    if wanted is Dimension.COUNT:
        return unit_of("")
    return unit_of("%") if wanted is Dimension.FRACTION and "pct" in metric else None


def _whole(name: str, unit: Unit | None, wanted: Dimension | None) -> bool:
    if unit is None or not unit.base:
        return False
    return is_whole(name) or (wanted is Dimension.TIME or name.strip().lower() == "duration")


def _cell(header: Header, row: Row, name: str) -> str | None:
    place = header.place(name)
    return None if place is None or place >= len(row.cells) else row.cells[place]
