"""The table that Nsight Compute's window exports: a line a metric, a column a launch.

Metric names carry their unit in brackets ("gpu__time_duration.sum [us]"). The window can also
export launches as lines, with the same names across; `csv_scan` reads that.
"""

import csv
import re
from collections.abc import Iterator

from rooflens.analysis.readers.csv_scan import (
    Header,
    Row,
    Shape,
    gui_names,
    is_kernel_name,
    with_units,
)
from rooflens.errors import DataFormatError

_METRIC = re.compile(r'^\ufeff?"?[a-z0-9]+__[\w.]+(?: \[[^\]"]*\])?"?[,;\t]', re.MULTILINE)
_FEW_METRICS = 3
_START_CHARACTERS = 100_000
_DELIMITERS = (",", ";", "\t")


def transposed(text: str, *, path: str) -> Iterator[Header | Row] | None:
    """The table turned to a header and a row for each launch; None where the text holds none.

    DataFormatError names the line of a row that has fewer or more cells than the first.
    """
    metrics = list(_METRIC.finditer(text, 0, _START_CHARACTERS))
    if len(metrics) < _FEW_METRICS:
        return None
    delimiter = metrics[0].group()[-1]
    if delimiter not in _DELIMITERS:
        return None
    lines = list(_cells(text, delimiter))
    if not any(is_kernel_name(cells[0]) for _, cells in lines):
        return None
    return _turned(lines, path)


def _cells(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text.lstrip("\ufeff").splitlines(), delimiter=delimiter)
    for cells in reader:
        if cells and cells[0].strip():
            yield reader.line_num, cells


def _turned(lines: list[tuple[int, list[str]]], path: str) -> Iterator[Header | Row]:
    width = max(len(cells) for _, cells in lines)
    kernel_line = next(line for line, cells in lines if is_kernel_name(cells[0]))
    for line, cells in lines:
        if len(cells) != width:
            raise DataFormatError(
                f"got {len(cells)} cells, expected {width} as in the longest line: a name and a "
                "value for each launch",
                path=path,
                line=line,
            )
    written = tuple(cells[0].strip() for _, cells in lines)
    names, units = with_units(written)
    yield Header(
        names=gui_names(names),
        line=lines[0][0],
        shape=Shape.WIDE,
        delimiter=",",
        quoted=False,
        required=len(names),
        units=units,
    )
    for launch in range(1, width):
        yield Row(cells=[cells[launch].strip() for _, cells in lines], line=kernel_line)
