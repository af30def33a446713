"""From what a user types to a run's folder."""

import difflib
import os
from pathlib import Path

import rooflens.recorded
from rooflens.errors import UnknownNameError, UsageError
from rooflens.store.layout import RECORD_FILE, is_file, is_folder, is_run_folder, runs_in

DATA_FOLDER_VARIABLE = "ROOFLENS_DATA_DIR"

_MOST_LISTED = 10
_NEWEST_LISTED = 3


def default_runs_folder() -> Path:
    """Where runs are stored unless told otherwise: `runs` below the user's data folder.

    ROOFLENS_DATA_DIR, if set and not empty, names the data folder instead.
    """
    chosen = os.environ.get(DATA_FOLDER_VARIABLE)
    if chosen:
        return Path(chosen) / "runs"
    from platformdirs import user_data_path

    return user_data_path("rooflens", appauthor=False) / "runs"


def recorded_runs() -> dict[str, Path]:
    """The runs shipped with rooflens, by name."""
    return {path.name: path for path in reversed(runs_in(Path(rooflens.recorded.__path__[0])))}


def stored_runs() -> dict[str, Path]:
    """The runs in the default folder by name, newest first."""
    return {path.name: path for path in runs_in(default_runs_folder())}


def find_run(name_or_path: str) -> Path:
    """The folder of the run that is meant.

    In this order: the path of a run's folder or of its run.json; a folder with exactly one run in
    it; the name of a recorded run; the name of a run in the default folder. UsageError if a folder
    holds several runs (listed newest first) or none; UnknownNameError if nothing has this name.
    """
    path = Path(name_or_path)
    if is_file(path) and path.name == RECORD_FILE:
        return path.parent
    if name_or_path and is_folder(path):
        if is_run_folder(path.resolve()):
            return path
        inside = runs_in(path)
        if inside:
            return _only(path, inside)
    stored = stored_runs()
    recorded = recorded_runs()
    named = recorded.get(name_or_path) or stored.get(name_or_path)
    if named is not None:
        return named
    if os.path.lexists(path) and name_or_path:
        raise UsageError(f"{name_or_path} holds no run: no {RECORD_FILE} in it or one folder below")
    if path.name != name_or_path:
        raise UsageError(f"no run at {name_or_path!r}: no such folder")
    near = [name for name in stored if name_or_path and name_or_path.casefold() in name]
    near += difflib.get_close_matches(name_or_path, stored, n=_MOST_LISTED, cutoff=0.4)
    newest = list(stored)[:_NEWEST_LISTED]
    known = (*recorded, *dict.fromkeys(near[:_MOST_LISTED] or newest))
    if not known:
        raise UsageError(
            f"unknown run {name_or_path!r}: none is recorded or stored in {default_runs_folder()}; "
            "make one with: rooflens run"
        )
    raise UnknownNameError("run", name_or_path, known)


def _only(parent: Path, inside: list[Path]) -> Path:
    if len(inside) == 1:
        return inside[0]
    names = [path.name for path in inside[:_MOST_LISTED]]
    rest = len(inside) - len(names)
    more = f" and {rest} more" if rest else ""
    raise UsageError(
        f"{parent} holds {len(inside)} runs, name one of them (newest first): "
        f"{', '.join(names)}{more}"
    )
