"""Reading a run back, or saying in one line why not."""

import hashlib
import json
import stat
from pathlib import Path
from typing import NoReturn

from rooflens.codec import decode_run
from rooflens.codec.decode import check_schema_version
from rooflens.codec.node import Node
from rooflens.errors import DataFormatError
from rooflens.run import Run
from rooflens.store.layout import MAX_FILE_BYTES, RECORD_FILE, SAMPLES_ENTRY, SAMPLES_FILE
from rooflens.store.samples_file import decode_samples


def read_run(folder: Path) -> Run:
    """The run stored in a folder; numbers that can be derived are not read from it.

    DataFormatError, naming the file and the place in it, if a file is missing, too large, damaged,
    of a later schema version, or not the one that was written together with the other.
    """
    record_path = folder / RECORD_FILE
    record = _parse(_read_bytes(record_path), record_path)
    root = Node(record, path=str(record_path), field="")
    check_schema_version(root)
    declared = root.get(SAMPLES_ENTRY).get("sha256").text()
    samples_path = folder / SAMPLES_FILE
    table = _read_bytes(samples_path)
    found = hashlib.sha256(table).hexdigest()
    if found != declared:
        raise DataFormatError(
            f"not the file that was written with {RECORD_FILE}, or damaged since: SHA-256 is "
            f"{found[:12]}..., expected {declared[:12]}...",
            path=str(samples_path),
        )
    return decode_run(record, decode_samples(table, samples_path), path=str(record_path))


def _read_bytes(path: Path) -> bytes:
    try:
        # Asked before opening: opening a named pipe would wait for a writer for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataFormatError("not a regular file", path=str(path))
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise DataFormatError("no such file; this is no complete run", path=str(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataFormatError(f"cannot be read: {reason}", path=str(path)) from error
    if len(data) > MAX_FILE_BYTES:
        raise DataFormatError(
            f"larger than the {MAX_FILE_BYTES} bytes that are read", path=str(path)
        )
    return data


def _parse(data: bytes, path: Path) -> object:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataFormatError(
            f"not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}",
            path=str(path),
        ) from None
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise DataFormatError(
            f"not JSON, or cut short: {error.msg}", path=str(path), line=error.lineno
        ) from None
    except RecursionError:
        raise DataFormatError("not a run: nested too deeply", path=str(path)) from None
    except ValueError as error:
        raise DataFormatError(f"not JSON: {error}", path=str(path)) from None
    if not isinstance(value, dict):
        raise DataFormatError("not a run: expected a JSON object", path=str(path))
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")
