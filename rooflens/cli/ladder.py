"""`rooflens ladder`: the rungs of a family, or the seed texts' figures, from a stored run."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from rooflens.analysis.hardware import find_card
from rooflens.analysis.ladder import ladders
from rooflens.analysis.seeds import seed_rows
from rooflens.cli.console import remark, stdout_console
from rooflens.cli.options import RunFormat
from rooflens.errors import DataFormatError, UnknownNameError, UsageError
from rooflens.kernels.registry import catalogue
from rooflens.kernels.seed_figures import REFERENCE_CARD, seed_figures
from rooflens.report.grid import print_line
from rooflens.report.ladder import Document, ladder_documents, print_ladders, write_ladder_csv
from rooflens.report.seeds import print_seeds as print_seed_table
from rooflens.report.seeds import seed_documents, write_seed_csv
from rooflens.report.text import clean
from rooflens.run import Run
from rooflens.store import find_run, read_run
from rooflens.store.find import recorded_runs, stored_runs
from rooflens.terms import MemoryLevel


def print_ladder(names: tuple[str, ...], output: RunFormat) -> int:
    """Prints the ladders of a family: names is (family,) or (family, run)."""
    if len(names) not in (1, 2):
        raise UsageError(
            f"ladder takes a family and, if you like, a run, got {len(names)} names: "
            "rooflens ladder softmax h200"
        )
    family = names[0]
    kernels = catalogue()
    families = dict.fromkeys(one.family.name for one in kernels.values())
    given = names[1] if len(names) == 2 else None
    path, run = _choose(
        given,
        lambda one: family in _families(one, timed=True),
        lambda one: family in _families(one, timed=False),
    )
    if family not in _families(run, timed=False):
        if family not in families:
            raise UnknownNameError(
                "family", family, tuple(map(clean, {**families, **_families(run, timed=False)}))
            )
        present = ", ".join(_families(run, timed=False)) or "no results"
        raise UsageError(
            f"run {clean(path.name)} has no {family}; it has {clean(present)}: "
            f"make one with: rooflens run {family}"
        )
    ideas = {one.name: one.idea for one in kernels.values()}
    found = ladders(run, family, tuple(kernels))
    if output is RunFormat.TABLE:
        console = stdout_console()
        print_line(clean(f"{run.card_name}, run {path.name}"), console)
        print_ladders(found, ideas, console)
    else:
        _write("ladders", ladder_documents(found, ideas), path, run, output, write_ladder_csv)
    return 0


def print_seeds(names: tuple[str, ...], output: RunFormat) -> int:
    """Prints the seed texts' figures beside a run's: names is () or (run,)."""
    if len(names) > 1:
        raise UsageError(f"ladder --seeds takes one run at most, got {len(names)} names")
    figures = seed_figures()
    asked = {one.family for one in figures}
    given = names[0] if names else None
    path, run = _choose(
        given,
        lambda one: asked <= _families(one, timed=True).keys(),
        lambda one: bool(asked & _families(one, timed=True).keys()),
    )
    ceiling = find_card(REFERENCE_CARD).bandwidths[MemoryLevel.DRAM]
    rows = seed_rows(figures, run, ceiling.per_s)
    if output is RunFormat.TABLE:
        print_seed_table(rows, run, path.name, ceiling.per_s, stdout_console())
    else:
        _write("seeds", seed_documents(rows), path, run, output, write_seed_csv)
    return 0


def _families(run: Run, *, timed: bool) -> dict[str, None]:
    return dict.fromkeys(
        one.family
        for one in run.measurements
        if one.family is not None and (one.times or not timed)
    )


def _choose(given: str | None, *wanted: Callable[[Run], bool]) -> tuple[Path, Run]:
    """The run of that name; else the newest stored one, or a recorded one, that has what is wanted.

    What comes first in `wanted` is looked for first, in all runs. A stored run that cannot be read
    is passed over, with a remark.
    """
    if given is not None:
        path = find_run(given)
        return path, read_run(path)
    recorded = recorded_runs()
    fallback: list[tuple[Path, Run]] = []
    for path in (*stored_runs().values(), *recorded.values()):
        try:
            run = read_run(path)
        except DataFormatError as error:
            remark(f"passed over: {error}")
            continue
        if wanted[0](run):
            return path, run
        fallback.append((path, run))
    for other in wanted[1:]:
        for path, run in fallback:
            if other(run):
                return path, run
    path = next(iter(recorded.values()))
    return path, read_run(path)


def _write(
    name: str,
    documents: list[Document],
    path: Path,
    run: Run,
    output: RunFormat,
    write_csv: Callable[..., None],
) -> None:
    if output is RunFormat.CSV:
        write_csv(documents, sys.stdout, run=path.name, device=run.card_name)
        return
    whole = {"run": path.name, "device": run.card_name, name: documents}
    json.dump(whole, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")
