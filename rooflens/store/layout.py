"""The names inside and outside of a run's folder, and the limits of what is read back."""

import re
import secrets
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

from rooflens.errors import UsageError

RECORD_FILE = "run.json"
SAMPLES_FILE = "samples.parquet"
SAMPLES_ENTRY = "samples_file"
TEMPORARY_PREFIX = ".rooflens-unfinished-"

MAX_FILE_BYTES = 256_000_000
MAX_SAMPLES = 20_000_000

_STAMP = "%Y%m%dT%H%M%SZ"
_STAMPED_NAME = re.compile(r"(\d{8}T\d{6}Z)-.+")
_MAX_SLUG = 40


def new_folder_name(created_utc: str, device: str) -> str:
    """`<UTC yyyymmddThhmmssZ>-<device>-<8 hex digits>`; no two calls give the same name.

    UsageError if `created_utc` is not an ISO 8601 time with its offset from UTC.
    """
    return f"{_stamp(created_utc)}-{slug(device)}-{secrets.token_hex(4)}"


def slug(text: str) -> str:
    """A device's name in lower-case ASCII letters, digits and hyphens: "nvidia-h200"."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower())
    return words[:_MAX_SLUG].strip("-") or "device"


def is_file(path: Path) -> bool:
    """Whether a file can be seen there; a path that cannot be looked at is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder can be seen there; a path that cannot be looked at is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_run_folder(folder: Path) -> bool:
    """Whether this is a finished run's folder: it holds a run.json and is not a temporary one."""
    return not folder.name.startswith(TEMPORARY_PREFIX) and is_file(folder / RECORD_FILE)


def runs_in(parent: Path) -> list[Path]:
    """The finished runs in a folder, newest first; none where the folder cannot be listed."""
    try:
        children = list(parent.iterdir())
    except OSError:
        return []
    return sorted(filter(is_run_folder, children), key=_age, reverse=True)


def _age(folder: Path) -> tuple[str, str]:
    """Sorts by the time in the folder's name, or its file's where the name has none."""
    stamped = _STAMPED_NAME.fullmatch(folder.name)
    if stamped is not None:
        return stamped[1], folder.name
    try:
        written = (folder / RECORD_FILE).stat().st_mtime
    except OSError:
        written = 0.0
    return datetime.fromtimestamp(written, UTC).strftime(_STAMP), folder.name


def _stamp(created_utc: str) -> str:
    try:
        created = datetime.fromisoformat(created_utc)
    except ValueError:
        created = None
    if created is None or created.tzinfo is None:
        raise UsageError(
            f"created_utc: got {created_utc!r}, expected an ISO 8601 time in UTC, "
            'as in "2025-01-31T12:00:00Z"'
        )
    return created.astimezone(UTC).strftime(_STAMP)
