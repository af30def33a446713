"""A report's file, unpacked as it is read, and refused where it would fill the memory."""

import contextlib
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rooflens.errors import DataFormatError

MAX_TABLE_BYTES = 2_000_000_000
"""Of a table, which is held in memory whole; what streams by may be longer."""

MAX_STREAM_BYTES = 100_000_000_000
_GZIP = b"\x1f\x8b"
_START_BYTES = 4096
_BOMB_BYTES = 50_000_000
_BOMB_RATIO = 200


class BoundedFile:
    """An open report. `compressed`: it is unpacked on the way.

    Reading raises DataFormatError for damaged gzip data, and where much more than 200 bytes come
    out of each byte that goes in: reports give 5 to 30.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._packed = file
        self._name = name
        self.compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        self._file: BinaryIO = gzip.GzipFile(fileobj=file) if self.compressed else file  # type: ignore[assignment]
        self._taken = 0
        self._start = self._checked(_START_BYTES)

    def peek_start(self) -> bytes:
        """The first bytes, which are read again."""
        return self._start

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes; b"" at the end."""
        if self._start:
            head, self._start = self._start[:size], self._start[size:]
            return head
        return self._checked(size)

    def read_all(self) -> bytes:
        """What is left; DataFormatError if the whole is more than MAX_TABLE_BYTES."""
        if not self.compressed and self._taken == len(self._start):
            self._refuse_size(self._packed.seek(0, os.SEEK_END))
            self._packed.seek(0)
            self._start, self._taken = b"", 0
            return self._checked(-1)
        parts, self._start = [self._start], b""
        while part := self._checked(1 << 24):
            parts.append(part)
            self._refuse_size(self._taken)
        return b"".join(parts)

    def _refuse_size(self, size: int) -> None:
        if size > MAX_TABLE_BYTES:
            raise DataFormatError(
                f"larger than the {MAX_TABLE_BYTES} bytes that a table may have; export fewer "
                "launches at a time, with --kernel-name or --launch-count",
                path=self._name,
            )

    def _checked(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise DataFormatError(f"cannot be read: {reason}", path=self._name) from error
        self._taken += len(data)
        packed = self._packed.tell() if self.compressed else self._taken
        if self._taken > max(_BOMB_BYTES, _BOMB_RATIO * packed) or self._taken > MAX_STREAM_BYTES:
            raise DataFormatError(
                f"{packed} bytes unpack to {self._taken} and more: no report is like that",
                path=self._name,
            )
        return data


@contextlib.contextmanager
def open_bounded(path: Path) -> Iterator[BoundedFile]:
    """The file, open for reading; DataFormatError if there is none that can be read."""
    try:
        if not path.is_file():
            what = (
                "a folder" if path.is_dir() else "not a file" if path.exists() else "no such file"
            )
            raise DataFormatError(what, path=str(path))
        file = path.open("rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataFormatError(f"cannot be read: {reason}", path=str(path)) from error
    with file:
        yield BoundedFile(file, path.name)
