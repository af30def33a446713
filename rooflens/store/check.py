"""Whether runs can be stored somewhere, asked before hours of measuring and not after."""

import tempfile
from pathlib import Path

from rooflens.errors import StorageError


def check_writable(parent: Path) -> None:
    """Makes the folder if it is missing and writes to it once; StorageError if either fails."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=parent) as probe:
            probe.write(b"0")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StorageError(
            f"cannot write runs to {parent}: {reason}; choose another folder with --out"
        ) from error
