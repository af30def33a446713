"""A run as a table for people."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement as Extent
from rich.table import Table
from rich.text import Text

from rooflens.analysis.placement import place
from rooflens.report.columns import Column, Line, columns_for
from rooflens.report.remarks import heading, remarks
from rooflens.run import Run

_UNLIMITED = 100_000
_STYLES = {"ok": "green", "FAILED": "bold red", "skipped": "yellow", "suspect": "bold red"}


def print_run(run: Run, console: Console) -> None:
    """Print a run: the card and its roofs, the table, and what the reader has to know.

    Names and numbers are never clipped. On a terminal the less important columns give way until
    the table fits, and are named below it; elsewhere all are printed, at the width that they need.
    """
    lines = tuple(
        Line(measurement=one, placement=place(one, run.hardware)) for one in run.measurements
    )
    columns = columns_for(lines)
    shown = _that_fit(columns, lines, console) if console.is_terminal else columns
    for text in heading(run, lines):
        _print_text(text, console)
    table = _table(shown, lines)
    table.width = _width(table, console)
    console.print()
    console.print(table, soft_wrap=True)
    console.print()
    hidden = [column.name for column in columns if column not in shown]
    if hidden:
        _print_text(
            f"not shown, for want of width: {', '.join(hidden)} (see --format json)", console
        )
    for text in remarks(run, lines, frozenset(column.name for column in shown)):
        _print_text(text, console)


def _that_fit(
    columns: tuple[Column, ...], lines: tuple[Line, ...], console: Console
) -> tuple[Column, ...]:
    shown = columns
    for column in sorted(columns, key=lambda one: one.yields, reverse=True):
        if column.yields == 0 or _width(_table(shown, lines), console) <= console.width:
            break
        shown = tuple(one for one in shown if one is not column)
    return shown


def _width(table: Table, console: Console) -> int:
    options = console.options.update(max_width=_UNLIMITED)
    return Extent.get(console, options, table).maximum


def _table(columns: tuple[Column, ...], lines: tuple[Line, ...]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for column in columns:
        table.add_column(
            Text(column.heading),
            justify="left" if column.left else "right",
            no_wrap=True,
            vertical="bottom",
        )
    for line in lines:
        texts = [column.text(line) for column in columns]
        table.add_row(*(Text(text, style=_STYLES.get(text, "")) for text in texts))
    return table


def _print_text(text: str, console: Console) -> None:
    console.print(Text(text), soft_wrap=not console.is_terminal)
