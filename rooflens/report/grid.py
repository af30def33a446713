"""Columns of text as a table that fits a terminal without clipping a cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement as Extent
from rich.table import Table
from rich.text import Text

_UNLIMITED = 100_000
_STYLES = {"ok": "green", "FAILED": "bold red", "skipped": "yellow", "suspect": "bold red"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column: heading (two lines at most), one cell a row, and what it gives way to.

    `yields` orders the columns that a narrow terminal drops: the highest goes first, 0 never goes.
    """

    name: str
    heading: str
    cells: tuple[str, ...]
    yields: int = 0
    left: bool = False


def print_grid(fields: Sequence[Field], console: Console) -> tuple[str, ...]:
    """Print the columns, and return the names of those that a terminal had no room for.

    Names and numbers are never clipped. On a terminal the columns that yield give way until the
    table fits; elsewhere all are printed, at the width that they need.
    """
    shown = _that_fit(tuple(fields), console) if console.is_terminal else tuple(fields)
    table = _table(shown)
    table.width = _width(table, console)
    console.print(table, soft_wrap=True)
    return tuple(field.name for field in fields if field not in shown)


def print_line(text: str, console: Console) -> None:
    """One line of prose, wrapped at words on a terminal and left whole elsewhere."""
    console.print(Text(text), soft_wrap=not console.is_terminal)


def print_hidden(names: Sequence[str], console: Console) -> None:
    """Say which columns were left out, if any."""
    if names:
        listed = ", ".join(dict.fromkeys(names))
        print_line(f"not shown, for want of width: {listed} (see --format json)", console)


def _that_fit(fields: tuple[Field, ...], console: Console) -> tuple[Field, ...]:
    shown = fields
    for field in sorted(fields, key=lambda one: one.yields, reverse=True):
        if field.yields == 0 or _width(_table(shown), console) <= console.width:
            break
        shown = tuple(one for one in shown if one is not field)
    return shown


def _width(table: Table, console: Console) -> int:
    options = console.options.update(max_width=_UNLIMITED)
    return Extent.get(console, options, table).maximum


def _table(fields: tuple[Field, ...]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for field in fields:
        table.add_column(
            Text(field.heading),
            justify="left" if field.left else "right",
            no_wrap=True,
            vertical="bottom",
        )
    for texts in zip(*(field.cells for field in fields), strict=True):
        table.add_row(*(Text(text, style=_STYLES.get(text, "")) for text in texts))
    return table
