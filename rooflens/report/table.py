"""A run as a table for people."""

from rich.console import Console

from rooflens.analysis.placement import place
from rooflens.report.columns import Line, columns_for
from rooflens.report.grid import Field, print_grid, print_hidden, print_line
from rooflens.report.remarks import heading, remarks
from rooflens.run import Run


def print_run(run: Run, console: Console) -> None:
    """Print a run: the card and its roofs, the table, and what the reader has to know.

    Names and numbers are never clipped. On a terminal the less important columns give way until
    the table fits, and are named below it; elsewhere all are printed, at the width that they need.
    """
    lines = lines_of(run)
    columns = columns_for(lines)
    for text in heading(run, lines):
        print_line(text, console)
    console.print()
    fields = [
        Field(
            name=column.name,
            heading=column.heading,
            cells=tuple(column.text(line) for line in lines),
            yields=column.yields,
            left=column.left,
        )
        for column in columns
    ]
    hidden = print_grid(fields, console)
    console.print()
    print_hidden(hidden, console)
    shown = frozenset(column.name for column in columns if column.name not in hidden)
    for text in remarks(run, lines, shown):
        print_line(text, console)


def lines_of(run: Run) -> tuple[Line, ...]:
    """The results of a run, each with its place under the roofs of the run's card."""
    return tuple(
        Line(measurement=one, placement=place(one, run.hardware)) for one in run.measurements
    )
