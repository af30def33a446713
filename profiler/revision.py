"""The git revision of a source checkout, and versions of installed packages."""

import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SOURCE_FOLDER = Path(__file__).resolve().parent.parent


def git_revision(folder: Path = SOURCE_FOLDER) -> str | None:
    """Commit of the checkout that this code runs from, "+changes" if it was edited since.

    None for an installed package, outside a checkout, or without git.
    """
    if not (folder / ".git").exists():
        return None
    command = [
        "git",
        "-C",
        str(folder),
        "describe",
        "--always",
        "--abbrev=40",
        "--exclude=*",
        "--dirty=+changes",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def package_version(name: str) -> str | None:
    """Version of an installed package; None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
