"""A JSON document of gigabytes, one element of one array at a time.

Python's own decoder reads each element from a window of the text. It is told to take control
characters in strings, which profilers write.
"""

import codecs
import json
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

from rooflens.errors import DataFormatError

CHUNK_BYTES = 1 << 20
MAX_VALUE_CHARACTERS = 32 * 2**20
_LOOK_AHEAD = 8
_SPACE = " \t\r\n"


class Readable(Protocol):
    """What bytes are read from, some at a time."""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes; b"" at the end."""
        ...


class JsonStream:
    """Reads one document. `cut` is set where the file ends before the document does."""

    def __init__(self, file: Readable, path: str) -> None:
        self.path = path
        self.cut = False
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._scan = json.JSONDecoder(strict=False).raw_decode
        self._text = ""
        self._place = 0
        self._passed = 0
        self._ended = False

    def members(self, array: str) -> Iterator[tuple[str, Any]]:
        """("name", value) of each member of the document, in file order; for the array of that
        name ("name", element) for each element. A document that is an array is that array.

        DataFormatError names the character where the text is no JSON.
        """
        first = self._next()
        if first == "[":
            yield from self._elements(array)
        elif first == "{":
            yield from self._pairs(array)
        else:
            self._fail("expected { or [ at the beginning")

    def _pairs(self, array: str) -> Iterator[tuple[str, Any]]:
        while True:
            mark = self._next()
            if mark in ("}", ""):
                self.cut = mark == ""
                return
            if mark == ",":
                continue
            self._place -= 1
            name = self._value()
            if self.cut or self._next() != ":":
                if not self.cut and not self._at_end():
                    self._fail("expected a colon")
                self.cut = True
                return
            mark = self._next()
            if name == array and mark == "[":
                yield from self._elements(array)
                continue
            self._place -= len(mark)
            value = self._value()
            if self.cut:
                return
            yield str(name), value

    def _elements(self, array: str) -> Iterator[tuple[str, Any]]:
        while not self.cut:
            mark = self._next()
            if mark in ("]", ""):
                self.cut = mark == ""
                return
            if mark == ",":
                continue
            self._place -= 1
            value = self._value()
            if not self.cut:
                yield array, value

    def _next(self) -> str:
        """The next character that is no space, which is taken; "" at the end."""
        while True:
            while self._place < len(self._text):
                one = self._text[self._place]
                self._place += 1
                if one not in _SPACE:
                    return one
            if not self._fill():
                return ""

    def _value(self) -> Any:
        """The value that begins here; None with `cut` set where the file ends within it."""
        while True:
            try:
                value, end = self._scan(self._text, self._place)
            except (json.JSONDecodeError, RecursionError) as error:
                long = len(self._text) - self._place > MAX_VALUE_CHARACTERS
                if not long and not self._ended:
                    self._fill()
                    continue
                if not long and self._ends_within(error):
                    self.cut = True
                    return None
                what = error.msg if isinstance(error, json.JSONDecodeError) else "too deep"
                self._fail(f"not JSON: {what}")
            near_end = len(self._text) - end < _LOOK_AHEAD
            if near_end and isinstance(value, int | float) and not self._ended:
                self._fill()  # "12" may be the beginning of "12.5e-3"
                continue
            self._place = end
            return value

    def _ends_within(self, error: Exception) -> bool:
        """Whether it is the end of the file that breaks the value off."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.pos >= len(self._text) - 1 or "Unterminated" in error.msg

    def _fill(self) -> bool:
        """Read on; False at the end of the file."""
        if self._ended:
            return False
        data = self._file.read(CHUNK_BYTES)
        self._ended = not data
        self._passed += self._place
        self._text = self._text[self._place :] + self._decode.decode(data, final=self._ended)
        self._place = 0
        return not self._ended

    def _at_end(self) -> bool:
        return self._place >= len(self._text) and not self._fill()

    def _fail(self, message: str) -> NoReturn:
        raise DataFormatError(
            message, path=self.path, field=f"character {self._passed + self._place}"
        )
