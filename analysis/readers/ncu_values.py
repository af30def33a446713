"""From the cells of one launch to numbers in SI base units, and why others are absent."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from rooflens.analysis.readers.locale_numbers import NumberCell, NumberFormat, decimal_proved
from rooflens.analysis.readers.ncu_wanted import dimension_of
from rooflens.analysis.readers.raw_launch import (
    RawLaunch,
    Reading,
    absence,
    bare_number,
    lacks_unit,
)
from rooflens.analysis.readers.report_units import Unit
from rooflens.errors import DataFormatError

LEAST_STEP_S = 1e-9
NO_UNIT = "its unit is not in the report"
_MOST_KNOWN = 500_000
MOST = 1e24  # so that products of what is read stay finite


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchValues:
    """Metric id to value in SI base units, and for each metric without one, why."""

    values: Mapping[str, float]
    absent: Mapping[str, str]


class CellReader:
    """Reads cells in one format. The same text is worked out once for a file."""

    def __init__(self, numbers: NumberFormat, path: str) -> None:
        self.numbers = numbers
        self.path = path
        self._known: dict[str, float | str] = {}
        self._known_whole: dict[str, float | str] = {}

    def launch(self, raw: RawLaunch) -> LaunchValues:
        """All of a launch's cells. DataFormatError names a cell that is no number."""
        values: dict[str, float] = {}
        absent: dict[str, str] = {}
        known, known_whole = self._known, self._known_whole
        for column, text in zip(raw.columns, raw.texts, strict=True):
            number = (known_whole if column.whole else known).get(text)
            if number is None:
                number = self._number(raw.reading_of(column, text), whole=column.whole)
            unit = column.unit
            if number.__class__ is str:
                absent[column.metric] = str(number)
            elif unit is None:
                absent[column.metric] = NO_UNIT
            elif column.lacks_unit:
                self._refuse_without_unit(raw.reading_of(column, text))
            else:
                values[column.metric] = number * unit.times / unit.over  # type: ignore[operator]
        for metric, reading in raw.readings.items():
            self._take(metric, reading, values, absent)
        for metric, reason in raw.unread.items():
            values.pop(metric, None)
            absent[metric] = reason
        return LaunchValues(values=values, absent=absent)

    def _take(
        self, metric: str, reading: Reading, values: dict[str, float], absent: dict[str, str]
    ) -> None:
        number = self._known.get(reading.text)
        if number is None:
            number = self._number(reading, whole=False)
        if isinstance(number, str):
            absent[metric] = number
        elif reading.unit is None:
            absent[metric] = NO_UNIT
        else:
            if lacks_unit(metric, reading.unit):
                self._refuse_without_unit(reading)
            values[metric] = reading.unit.to_si(number)

    def bounds(self, reading: Reading) -> tuple[float, float] | None:
        """A summary's minimum and maximum in the reading's own unit, or None."""
        if reading.bounds is None:
            return None
        low, high = (self.numbers.parse(bare_number(text)) for text in reading.bounds)
        return None if low is None or high is None else (low, high)

    def step_s(self, reading: Reading) -> float:
        """The last printed digit of a time in seconds, at least a nanosecond."""
        return step_of(reading.text, reading.unit, self.numbers.decimal.character)

    def _number(self, reading: Reading, *, whole: bool) -> float | str:
        """The number, or why there is none."""
        text = bare_number(reading.text)
        found: float | str | None = absence(reading.text)
        if found is None:
            found = self.numbers.parse(text)
        if found is None or (whole and self._of_another_locale(text)):
            raise self._complaint(
                f"got {reading.text[:60]!r}, expected a number with a decimal "
                f"{self.numbers.decimal} ({self.numbers.reason})",
                reading,
            )
        if isinstance(found, float) and not 0 <= found <= MOST:
            raise self._complaint(
                f"got {reading.text[:60]!r}, expected a number from 0 to {MOST:g}", reading
            )
        known = self._known_whole if whole else self._known
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[reading.text] = found
        return found

    def _of_another_locale(self, text: str) -> bool:
        """Whether a quantity without fractions is grouped by what marks decimals here."""
        proved = decimal_proved(NumberCell(text=text, line=0, column="", whole=True))
        return proved is not None and proved is not self.numbers.decimal

    def _refuse_without_unit(self, reading: Reading) -> NoReturn:
        """A time, size or share without a unit cannot be read: it would be off by powers of ten."""
        raise self._complaint(
            f"got {reading.text[:60]!r} without a unit, expected one of "
            f"{dimension_of(reading.metric)}",
            reading,
        )

    def _complaint(self, message: str, reading: Reading) -> DataFormatError:
        return DataFormatError(message, path=self.path, line=reading.line, field=reading.column)


def undecided_cells(launches: Iterable[RawLaunch]) -> Iterator[NumberCell]:
    """Each distinct text of the wide tables' cells that are read, as evidence of their locale."""
    seen: set[str] = set()
    for launch in launches:
        for column, text in zip(launch.columns, launch.texts, strict=True):
            if text in seen or text.isdigit():
                continue
            seen.add(text)
            yield NumberCell(
                text=bare_number(text), line=launch.line, column=column.name, whole=column.whole
            )


def step_of(text: str, unit: Unit | None, decimal: str) -> float:
    """What the last printed digit of a time is worth, in seconds, at least a nanosecond."""
    if unit is None:
        return LEAST_STEP_S
    _, mark, fraction = bare_number(text).rpartition(decimal)
    return max(LEAST_STEP_S, unit.to_si(10.0 ** -(len(fraction) if mark else 0)))
