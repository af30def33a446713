"""What a source depends on: the files that it includes, and theirs, found in the text.

The preprocessor is not run. A file included in an inactive branch or in a comment counts too, and
where a name is found in several folders each of them counts: the result may hold a file too many,
which costs a needless compilation, but not one too few. A name found nowhere is left to NVRTC,
which has headers of its own; they change with its version alone.
"""

import hashlib
import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_DIRECTIVE = rb"^[ \t\f\v]*(?:#|%:)[ \t\f\v]*(?:include_next|include|import)\b[ \t\f\v]*"
_LITERAL = re.compile(_DIRECTIVE + rb"(\"[^\"\n\0]+\"|<[^>\n\0]+>)", re.M)
_MACRO = re.compile(_DIRECTIVE + rb"([A-Za-z_]\w*)", re.M)
_PROBE = re.compile(rb"\b\w*HAS_INCLUDE\w*\s*\(\s*(\"[^\"\n\0]+\"|<[^>\n\0]+>)", re.I)
_CLOCK = re.compile(rb"\b__(?:DATE|TIME|TIMESTAMP)__\b")
_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
# Comments, and the literals in which a comment's first characters mean nothing. An apostrophe
# behind a hexadecimal digit separates digits.
_LEXEME = re.compile(
    rb"//[^\n]*|/\*.*?\*/"
    rb'|R"([^()\\\s]{0,16})\(.*?\)\1"'
    rb'|"(?:\\.|[^"\\\n])*"'
    rb"|(?:(?<![0-9a-fA-F])|(?<=u8))'(?:\\.|[^'\\\n])*'",
    re.S,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludedFile:
    """A file that a source may include: name as spelled, where found, SHA-256 of its contents.

    place is "." for the folder of the including file, or the number of the search folder.
    """

    name: str
    place: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """All that a source may include, in the order found. It holds no absolute path of its own.

    unknowable says why the list cannot be complete (an include whose name is a macro, the time of
    day in the code); such a program has no hash and is not cached.
    """

    files: tuple[IncludedFile, ...]
    unknowable: str | None


@dataclass(frozen=True, slots=True)
class _Scan:
    names: tuple[str, ...]  # with their quotes or angle brackets
    unknowable: str | None


def find_dependencies(source: bytes, folder: Path, search: Sequence[Path]) -> Dependencies:
    """The files that a source lying in folder may include, with the search folders in order."""
    first = _scan(source)
    unknowable = first.unknowable
    files: list[IncludedFile] = []
    seen: set[Path] = set()
    queue: deque[tuple[str, Path]] = deque((name, folder) for name in first.names)
    while queue:
        name, includer = queue.popleft()
        for place, path in _candidates(name, includer, search):
            # The folder is resolved, so that a chain of "../x" ends; the file is not, because its
            # own includes are relative to the folder that it was found in.
            key = Path(os.path.realpath(path.parent)) / path.name
            if key in seen:
                continue
            contents = _read(path)
            if contents is None:
                continue
            seen.add(key)
            digest = hashlib.sha256(contents).hexdigest()
            files.append(IncludedFile(name=name, place=place, digest=digest))
            scan = _scan(contents)
            if scan.unknowable is not None and unknowable is None:
                unknowable = f"{scan.unknowable} in {name}"
            queue.extend((each, path.parent) for each in scan.names)
    return Dependencies(files=tuple(files), unknowable=unknowable)


def _candidates(name: str, includer: Path, search: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    spelled = name[1:-1]
    if name.startswith('"'):
        yield ".", includer / spelled
    for number, folder in enumerate(search):
        yield str(number), folder / spelled


def _read(path: Path) -> bytes | None:
    """A regular file's contents; None for what NVRTC could not include either."""
    try:
        return path.read_bytes() if path.is_file() else None
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=512)
def _scan(contents: bytes) -> _Scan:
    """The names that one file includes or asks for.

    Names are taken from the text with and without its comments: a comment may hide a directive
    (`# /* */ include "x"`), and removing comments may, in a text that only looks like C++.
    """
    text = _SPLICE.sub(b"", contents.replace(b"\r\n", b"\n"))
    bare = _LEXEME.sub(lambda found: b" " if found[0][:1] == b"/" else found[0], text)
    names: dict[str, None] = {}
    for each in (text, bare):
        for pattern in (_LITERAL, _PROBE):
            names.update((os.fsdecode(found[1]), None) for found in pattern.finditer(each))
    unknowable = None
    if (macro := _MACRO.search(bare)) is not None:
        unknowable = f"#include {os.fsdecode(macro[1])} (a macro)"
    elif (clock := _CLOCK.search(bare)) is not None:
        unknowable = f"{os.fsdecode(clock[0])} (the time of compilation)"
    return _Scan(tuple(names), unknowable)
