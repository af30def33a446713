"""Compiled code on disk, one file an entry, safe against other processes and a full disk.

An entry is a line of magic, a line with the SHA-256 of all that follows, a line of JSON, and the
code. It is written under a temporary name and renamed, so a reader sees the whole of it or nothing.
Whatever is wrong with an entry, it is taken as absent and written anew. Entries are never removed
by rooflens: the folder may be deleted at any time.
"""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rooflens.profiler.compile.architecture import CodeKind

_MAGIC = b"rooflens compiled code 1\n"
CACHE_FOLDER_VARIABLE = "ROOFLENS_CACHE_DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """Compiled code as it is kept: all else about it is read from the code and the log.

    places are the source's path and the search folders of the compilation, which the code's line
    information names.
    """

    kind: CodeKind
    target: str
    log: str
    places: tuple[str, ...]
    code: bytes


@dataclass(frozen=True, slots=True)
class CompileCache:
    """A folder of compiled code, created when first written to."""

    folder: Path

    @classmethod
    def default(cls) -> "CompileCache":
        """The cache in $ROOFLENS_CACHE_DIR/cubin, or in the user's cache folder."""
        chosen = os.environ.get(CACHE_FOLDER_VARIABLE)
        if not chosen:
            import platformdirs

            chosen = platformdirs.user_cache_dir("rooflens")
        return cls(Path(chosen) / "cubin")

    def load(self, key: str) -> CacheEntry | None:
        """The entry of a key, or None if there is none that is whole and of this format."""
        try:
            raw = self._path(key).read_bytes()
        except OSError:
            return None
        return _decoded(raw, key)

    def store(self, key: str, entry: CacheEntry) -> str | None:
        """Keep an entry. Returns None, or in one sentence why it could not be kept."""
        temporary: Path | None = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".tmp")
            temporary = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.write(_encoded(entry, key))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path(key))
        except OSError as error:
            if temporary is not None:
                with suppress(OSError):
                    temporary.unlink()
            reason = error.strerror or type(error).__name__
            return f"the compiled code could not be kept in the cache: {reason}"
        return None

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.bin"


def _encoded(entry: CacheEntry, key: str) -> bytes:
    header = {
        "key": key,
        "kind": entry.kind.value,
        "target": entry.target,
        "log": entry.log,
        "places": list(entry.places),
    }
    body = json.dumps(header).encode("ascii") + b"\n" + entry.code
    return _MAGIC + hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body


def _decoded(raw: bytes, key: str) -> CacheEntry | None:
    if not raw.startswith(_MAGIC):
        return None
    digest, _, body = raw[len(_MAGIC) :].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode("ascii") != digest:
        return None
    text, _, code = body.partition(b"\n")
    try:
        header = json.loads(text)
        if header["key"] != key:
            return None
        return CacheEntry(
            kind=CodeKind(header["kind"]),
            target=str(header["target"]),
            log=str(header["log"]),
            places=tuple(str(place) for place in header["places"]),
            code=code,
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
