"""Raw pages of Nsight Compute: one row a launch, one column a metric, and a row of units below."""

from collections.abc import Iterator, Mapping
from operator import itemgetter

from rooflens.analysis.readers.csv_scan import Header, Row
from rooflens.analysis.readers.locale_numbers import NumberCell
from rooflens.analysis.readers.ncu_wanted import CARD_NAME, bare_name, dimension_of, is_whole
from rooflens.analysis.readers.raw_launch import Column, RawLaunch, check_unit, lacks_unit
from rooflens.analysis.readers.report_units import Dimension, Unit, unit_of

_CUT = "the file ends within it"


class WideTable:
    """One table: which of its thousands of columns are read, found once for all of its rows.

    Where groups of counters repeat a metric, the column of the plain name is read, or else the
    first that is not empty.
    """

    def __init__(self, header: Header, units: Row | None, path: str) -> None:
        self._names = header.names
        columns: dict[str, Column] = {}
        self.others: list[tuple[str, int]] = []
        self.card_place: int | None = None
        exact = {name for name in header.names if bare_name(name) == name}
        for place, name in enumerate(header.names):
            metric = bare_name(name)
            if metric == CARD_NAME:
                self.card_place = place
            elif (wanted := dimension_of(metric)) is None or (metric != name and metric in exact):
                continue
            elif metric in columns:
                self.others.append((metric, place))
            else:
                told = header.units if units is None else units.cells
                line = header.line if units is None else units.line
                unit = _unit(wanted, None if told is None else told[place], metric, line, path)
                columns[metric] = Column(
                    metric=metric,
                    name=name,
                    place=place,
                    unit=unit,
                    whole=unit is not None and unit.base and is_whole(metric),
                    lacks_unit=unit is not None and lacks_unit(metric, unit),
                )
        self.columns = tuple(columns.values())
        self._whole = {column.place for column in self.columns if column.whole}
        self._seen: set[tuple[bool, str]] = {(False, ""), (True, "")}
        self._pick = itemgetter(*(column.place for column in self.columns), 0)

    def launch(self, row: Row, identity: Mapping[str, str], ranges: tuple[str, ...]) -> RawLaunch:
        """The launch of a row."""
        cells = row.cells
        texts: tuple[str, ...] = self._pick(cells)[:-1] if self.columns else ()
        if self.others:
            texts = self._filled(texts, cells)
        launch = RawLaunch(
            line=row.line,
            identity=identity,
            ranges=ranges,
            card=(cells[self.card_place] or None) if self.card_place is not None else None,
            columns=self.columns,
            texts=texts,
        )
        if row.cut:
            last = len(cells) - 1
            launch.unread |= {one.metric: _CUT for one in self.columns if one.place == last}
        return launch

    def witnesses(self, row: Row) -> Iterator[NumberCell]:
        """Every cell that may show how numbers are written, read or not, and each text once."""
        for place, (name, text) in enumerate(zip(self._names, row.cells, strict=True)):
            whole = place in self._whole
            if (whole, text) in self._seen or place == self.card_place or "__" not in name:
                continue
            self._seen.add((whole, text))
            if not text.isdigit():
                yield NumberCell(text=text, line=row.line, column=name, whole=whole)

    def _filled(self, texts: tuple[str, ...], cells: list[str]) -> tuple[str, ...]:
        found = {column.metric: text for column, text in zip(self.columns, texts, strict=True)}
        for metric, place in self.others:
            found[metric] = found[metric] or cells[place]
        return tuple(found.values())


def _unit(wanted: Dimension, text: str | None, metric: str, line: int, path: str) -> Unit | None:
    """The unit that a table tells; without one, that of a plain count, or none."""
    if text is None:
        return unit_of("") if wanted is Dimension.COUNT else None
    unit = unit_of(text)
    check_unit(wanted, unit, text, None, metric, line, path)
    return unit
