"""A launch as the cells of an Nsight Compute export say, before numbers are read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rooflens.analysis.readers.ncu_wanted import dimension_of
from rooflens.analysis.readers.report_units import Dimension, Unit
from rooflens.errors import DataFormatError

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
ABSENCES = frozenset(_ABSENT.values())
"""What stands in a cell without a number."""

_SHOWN = 60
_INSTANCES = re.compile(r"\s*[({;].*", re.DOTALL)
_TRIPLE = re.compile(r"\(?\s*(\d{1,10})\s*[,x]\s*(\d{1,10})\s*[,x]\s*(\d{1,10})\s*\)?")
_CAPABILITY = re.compile(r"(\d{1,2})[.,](\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One metric's cell: its text, unit and place. bounds: a summary's minimum and maximum."""

    metric: str
    text: str
    unit: Unit | None
    line: int
    column: str
    bounds: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column that is read: its metric, its name and place in the header, and its unit.

    whole: its cells have no fraction, so that a mark before three digits groups them. lacks_unit:
    the table gives none, and a value cannot be read without.
    """

    metric: str
    name: str
    place: int
    unit: Unit | None
    whole: bool = False
    lacks_unit: bool = False


@dataclass(slots=True, kw_only=True)
class RawLaunch:
    """A launch as its cells say: in readings, or in the texts of a wide table's columns.

    unread: metrics whose cell is there and cannot be read, with the reason.
    """

    line: int
    identity: Mapping[str, str]
    ranges: tuple[str, ...] = ()
    card: str | None = None
    invocations: str | None = None
    columns: tuple[Column, ...] = ()
    texts: tuple[str, ...] = ()
    readings: dict[str, Reading] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    def add(self, reading: Reading, path: str) -> None:
        """Take a metric's cell; another that says the same is no news, one that differs is wrong.

        Units may differ from section to section, and then the first one stays.
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

    def reading(self, metric: str) -> Reading | None:
        """The cell of a metric, whatever the shape of the table."""
        for column, text in zip(self.columns, self.texts, strict=True):
            if column.metric == metric:
                return self.reading_of(column, text)
        return self.readings.get(metric)

    def reading_of(self, column: Column, text: str) -> Reading:
        """One of this launch's cells in a wide table."""
        return Reading(
            metric=column.metric, text=text, unit=column.unit, line=self.line, column=column.name
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


def check_unit(
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
        refuse_unit(unit_text, metric, line, path)
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


def refuse_unit(unit_text: str | None, name: str, line: int, path: str) -> None:
    raise DataFormatError(
        f"got unit {unit_text!r}, which is not known; report it, or leave the metric out",
        path=path,
        line=line,
        field=name,
    )


def lacks_unit(metric: str, unit: Unit) -> bool:
    """Whether a metric that needs a unit stands without one: it would be off by powers of ten."""
    wanted = dimension_of(metric)
    return unit.dimension is Dimension.COUNT and wanted not in (None, Dimension.COUNT)
