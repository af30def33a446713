"""Where output goes: results to stdout, progress and remarks to stderr."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rooflens.report.text import clean

if TYPE_CHECKING:
    from rich.console import Console

    from rooflens.profiler.session import Progress

WIDE_COLUMNS = 200  # a file or a pipe has no width; nothing is clipped to fit one


def stdout_console() -> "Console":
    """A console for results; wide and without colour where stdout is no terminal."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=WIDE_COLUMNS, no_color=True)


def remark(text: str) -> None:
    """One line to stderr."""
    print(f"rooflens: {clean(text)}", file=sys.stderr)


@contextmanager
def progress_bar() -> Iterator["Progress"]:
    """A bar on stderr while it is a terminal, otherwise nothing."""
    if not sys.stderr.isatty():
        yield lambda done, total, label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, label: bar.update(
            task, completed=done, total=total, description=label
        )
