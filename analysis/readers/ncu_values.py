"""From the cells of one launch to numbers in SI base units, and why others are absent."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rooflens.analysis.readers.locale_numbers import NumberCell, NumberFormat
from rooflens.analysis.readers.ncu_launches import RawLaunch, Reading, absence, bare_number
from rooflens.analysis.readers.ncu_wanted import dimension_of, is_whole
from rooflens.analysis.readers.report_units import Dimension
from rooflens.errors import DataFormatError

_LEAST_STEP_S = 1e-9
_MOST = 1e24  # so that products of what is read stay finite


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

    def launch(self, raw: RawLaunch) -> LaunchValues:
        """All of a launch's readings. DataFormatError names a cell that is no number."""
        values: dict[str, float] = {}
        absent = dict(raw.unread)
        for metric, reading in raw.readings.items():
            number = self._number(reading)
            if isinstance(number, str):
                absent[metric] = number
            elif reading.unit is None:
                absent[metric] = "its unit is not in the report"
            else:
                self._check_unit(reading)
                values[metric] = reading.unit.to_si(number)
        return LaunchValues(values=values, absent=absent)

    def bounds(self, reading: Reading) -> tuple[float, float] | None:
        """A summary's minimum and maximum in the reading's own unit, or None."""
        if reading.bounds is None:
            return None
        low, high = (self.numbers.parse(bare_number(text)) for text in reading.bounds)
        return None if low is None or high is None else (low, high)

    def step_s(self, reading: Reading) -> float:
        """The last printed digit of a time in seconds, at least a nanosecond."""
        if reading.unit is None:
            return _LEAST_STEP_S
        decimals = bare_number(reading.text).rpartition(self.numbers.decimal.character)
        digits = len(decimals[2]) if decimals[1] else 0
        return max(_LEAST_STEP_S, reading.unit.to_si(10.0**-digits))

    def _number(self, reading: Reading) -> float | str:
        """The number, or why there is none."""
        known = self._known.get(reading.text)
        if known is not None:
            return known
        found: float | str | None = absence(reading.text)
        if found is None:
            found = self.numbers.parse(bare_number(reading.text))
        if found is None:
            raise DataFormatError(
                f"got {reading.text[:60]!r}, expected a number with a decimal "
                f"{self.numbers.decimal} ({self.numbers.reason})",
                path=self.path,
                line=reading.line,
                field=reading.column,
            )
        if isinstance(found, float) and not 0 <= found <= _MOST:
            raise DataFormatError(
                f"got {reading.text[:60]!r}, expected a number from 0 to {_MOST:g}",
                path=self.path,
                line=reading.line,
                field=reading.column,
            )
        self._known[reading.text] = found
        return found

    def _check_unit(self, reading: Reading) -> None:
        """A time, size or share without a unit cannot be read: it would be off by powers of ten."""
        wanted = dimension_of(reading.metric)
        if wanted is None or reading.unit is None or wanted is Dimension.COUNT:
            return
        if reading.unit.dimension is Dimension.COUNT:
            raise DataFormatError(
                f"got {reading.text[:60]!r} without a unit, expected one of {wanted}",
                path=self.path,
                line=reading.line,
                field=reading.column,
            )


def number_cells(launches: Iterable[RawLaunch]) -> Iterator[NumberCell]:
    """Each distinct text among the cells that are read, as evidence of how numbers are written."""
    seen: set[str] = set()
    for launch in launches:
        for reading in launch.readings.values():
            if reading.text in seen or reading.text.isdigit():
                continue
            seen.add(reading.text)
            yield NumberCell(
                text=bare_number(reading.text),
                line=reading.line,
                column=reading.column,
                whole=reading.unit is not None and reading.unit.base and is_whole(reading.metric),
            )
