"""Bytes of a report to text: byte order marks, UTF-16 without one, and files of two encodings.

A shell on Windows redirects in UTF-16, and one that appends may add UTF-8 to it, or the reverse.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Sixteen printable bytes in a row are no UTF-16 of Latin text, whose every other byte is zero.
_SINGLE_BYTES = re.compile(rb"[\t\r\n\x20-\x7e]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A report's text, and a note for each thing about its encoding that a reader should know."""

    text: str
    notes: tuple[str, ...]


def decode_report(data: bytes) -> Decoded:
    """The text of a report, stretch by stretch where its encoding changes half-way.

    Bytes that are no UTF-8 are read as Latin-1, with a note: only names can hold them.
    """
    parts: list[str] = []
    encodings: list[str] = []
    for encoding, part in _stretches(data):
        text, used = _decode(part, encoding)
        parts.append(text)
        if not encodings or encodings[-1] != used:
            encodings.append(used)
    notes = []
    if encodings and encodings != ["utf-8"]:
        notes.append(f"encoding: {', then '.join(encodings)}")
    return Decoded(text="".join(parts), notes=tuple(notes))


def _decode(part: bytes, encoding: str) -> tuple[str, str]:
    if encoding != "utf-8":
        return part.decode(encoding, errors="replace"), encoding
    try:
        return part.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return part.decode("latin-1"), "latin-1"


def _stretches(data: bytes) -> Iterator[tuple[str, bytes]]:
    """(encoding, bytes) of each stretch, without byte order marks."""
    start = 0
    while start < len(data):
        encoding, start = _encoding_at(data, start)
        end = (
            _end_of_utf8(data, start)
            if encoding == "utf-8"
            else _end_of_utf16(data, start, encoding)
        )
        if end <= start:  # nothing to tell by: the rest is one stretch
            end = len(data)
        yield encoding, data[start:end]
        start = end


def _encoding_at(data: bytes, start: int) -> tuple[str, int]:
    """The encoding from here on, and where its text starts, after a byte order mark."""
    if data.startswith(_UTF8_MARK, start):
        return "utf-8", start + len(_UTF8_MARK)
    mark = data[start : start + 2]
    if mark in _UTF16_MARKS:
        return _UTF16_MARKS[mark], start + 2
    if len(mark) == 2 and 0 in mark and mark != b"\0\0":
        return ("utf-16-le" if mark[1] == 0 else "utf-16-be"), start
    return "utf-8", start


def _end_of_utf8(data: bytes, start: int) -> int:
    """Where UTF-16 begins: the line, or the byte order mark, before the first zero byte."""
    zero = data.find(b"\0", start)
    if zero < 0:
        return len(data)
    for mark in _UTF16_MARKS:
        place = data.rfind(mark, start, zero)
        if place > start and zero - place <= 3:
            return place
    line = data.rfind(b"\n", start, zero) + 1
    return line if line > start else max(zero - 1, start)


def _end_of_utf16(data: bytes, start: int, encoding: str) -> int:
    """Where single bytes begin: after the last character with a zero byte before a run of them."""
    found = _SINGLE_BYTES.search(data, start)
    if found is None:
        return len(data)
    zero = data.rfind(b"\0", start, found.start() + 1)
    if zero < 0:
        return found.start()
    return min(zero + (1 if encoding == "utf-16-le" else 2), len(data))
