"""Writing a run: whole or not at all."""

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rooflens.codec import count_samples, decode_run, samples_of
from rooflens.codec.encode import refuse_not_finite
from rooflens.errors import StorageError, UsageError
from rooflens.run import Run
from rooflens.store.layout import (
    MAX_FILE_BYTES,
    MAX_SAMPLES,
    RECORD_FILE,
    SAMPLES_ENTRY,
    SAMPLES_FILE,
    TEMPORARY_PREFIX,
    new_folder_name,
)
from rooflens.store.samples_file import encode_samples

_TAKEN = (errno.EEXIST, errno.ENOTEMPTY)


def write_run(run: Run, parent: Path, *, document: Mapping[str, Any]) -> Path:
    """Write a run into a new folder in `parent` (made if missing) and return the folder.

    `document` is what run.json will hold: the run's record (`codec.encode_run`), with or without
    derived numbers beside it. Both files are written to a hidden folder and flushed to disk before
    that is renamed, so no reader ever sees a part of a run, and two writers never collide.

    UsageError if the document does not give this very run back, or the run is too large to be read
    again; StorageError if the folder cannot be written, in which case nothing is left behind.
    """
    files = _files(run, document)
    name = new_folder_name(run.provenance.created_utc, run.card_name)
    temporary = parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
    except (OSError, ValueError) as error:
        raise _storage_error(parent, error) from error
    try:
        for file_name, data in files.items():
            _write_durably(temporary / file_name, data)
        _flush_folder(temporary)
        folder = _rename(temporary, parent, name, run)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise _storage_error(parent, error) from error
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _flush_entry(parent)
    return folder


def _files(run: Run, document: Mapping[str, Any]) -> dict[str, bytes]:
    """Contents by file name, checked to be readable and to give the run back."""
    samples = samples_of(run)
    if decode_run(dict(document), samples, path="the document to be written") != run:
        raise UsageError("the document to be written is not that of the run")
    refuse_not_finite(document, "")
    if count_samples(samples) > MAX_SAMPLES:
        raise UsageError(
            f"the run holds {count_samples(samples)} samples, more than the {MAX_SAMPLES} that can "
            "be read back; run fewer kernels at a time"
        )
    table = encode_samples(run)
    entry = {"name": SAMPLES_FILE, "sha256": hashlib.sha256(table).hexdigest()}
    record = json.dumps({**document, SAMPLES_ENTRY: entry}, indent=2, allow_nan=False)
    files = {SAMPLES_FILE: table, RECORD_FILE: f"{record}\n".encode("ascii")}
    for name, data in files.items():
        if len(data) > MAX_FILE_BYTES:
            raise UsageError(
                f"{name} would be {len(data)} bytes, more than the {MAX_FILE_BYTES} that can be "
                "read back; run fewer kernels at a time"
            )
    return files


def _rename(temporary: Path, parent: Path, name: str, run: Run) -> Path:
    """Give the finished folder its name; a name that is taken is drawn anew."""
    while True:
        folder = parent / name
        try:
            temporary.rename(folder)
            return folder
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            name = new_folder_name(run.provenance.created_utc, run.card_name)


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened, and needs no flush
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_entry(parent: Path) -> None:
    """Make the rename durable. The run is whole by now, so a refusal is no failure to write it."""
    try:
        _flush_folder(parent)
    except OSError:
        return


def _storage_error(parent: Path, error: Exception) -> StorageError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StorageError(
        f"cannot write a run in {parent}: {reason}; name another folder, or make room and "
        "permission there"
    )
