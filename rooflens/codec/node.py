"""A value in a JSON file together with its place, so that each complaint names file and field."""

import math
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NoReturn, TypeVar

from rooflens.errors import DataFormatError, UsageError

W = TypeVar("W", bound=StrEnum)
T = TypeVar("T")

MAX_WHOLE = 2**63 - 1

_SHOWN = 60


class Node:
    """One value of a parsed file; `field` is its place there ("results[3].time.hot").

    Every method checks and returns the value as one type, or raises DataFormatError.
    """

    __slots__ = ("field", "path", "value")

    def __init__(self, value: object, *, path: str, field: str) -> None:
        self.value = value
        self.path = path
        self.field = field

    def fail(self, message: str) -> NoReturn:
        """DataFormatError at this place."""
        raise DataFormatError(message, path=self.path, field=self.field or None)

    def entries(self) -> dict[str, "Node"]:
        """The members of an object by name, in file order; null members are absent."""
        if not isinstance(self.value, Mapping):
            self._wrong("an object")
        return {
            str(name): self._member(str(name), entry)
            for name, entry in self.value.items()
            if entry is not None
        }

    def get(self, name: str) -> "Node":
        """A member that must be there and not null."""
        node = self.get_optional(name)
        if node is None:
            self._member(name, None).fail("missing, or null")
        return node

    def get_optional(self, name: str) -> "Node | None":
        """A member, or None where it is missing or null."""
        if not isinstance(self.value, Mapping):
            self._wrong("an object")
        entry = self.value.get(name)
        return None if entry is None else self._member(name, entry)

    def items(self) -> list["Node"]:
        """The elements of an array."""
        if not isinstance(self.value, list):
            self._wrong("an array")
        return [
            Node(entry, path=self.path, field=f"{self.field}[{index}]")
            for index, entry in enumerate(self.value)
        ]

    def text(self) -> str:
        if not isinstance(self.value, str):
            self._wrong("a string")
        return self.value

    def texts(self) -> tuple[str, ...]:
        return tuple(node.text() for node in self.items())

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            self._wrong("true or false")
        return self.value

    def whole(self) -> int:
        """A whole number >= 0, since every integer of the format counts something, in 63 bits."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self._wrong("a whole number")
        if not 0 <= self.value <= MAX_WHOLE:
            self._wrong(f"a whole number from 0 to {MAX_WHOLE}")
        return self.value

    def number(self) -> float:
        """A finite number. Written as an integer it is read as a float."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self._wrong("a number")
        try:
            result = float(self.value)
        except OverflowError:
            result = math.inf
        if not math.isfinite(result):
            self._wrong("a finite number")
        return result

    def span(self) -> float:
        """A finite number >= 0."""
        result = self.number()
        if result < 0:
            self._wrong("a number >= 0")
        return result

    def word(self, kind: type[W]) -> W:
        """One word of a closed set."""
        return as_word(self, self.text(), kind)

    def build(self, make: Callable[[], T]) -> T:
        """What `make` returns; a record's own refusal becomes a complaint about this place."""
        try:
            return make()
        except UsageError as error:
            self.fail(str(error))

    def _member(self, name: str, value: object) -> "Node":
        shown = name if name.isprintable() and len(name) <= _SHOWN else describe(name)
        field = f"{self.field}.{shown}" if self.field else shown
        return Node(value, path=self.path, field=field)

    def _wrong(self, expected: str) -> NoReturn:
        self.fail(f"got {describe(self.value)}, expected {expected}")


def describe(value: object) -> str:
    """A value in a few words; containers by kind alone, since they may be deep or endless."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "an array"
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def as_word(node: Node, text: str, kind: type[W]) -> W:
    """`text` (a value, or an object's member name) as a word of `kind`; `node` is its place."""
    try:
        return kind(text)
    except ValueError:
        node.fail(f"got {describe(text)}, expected one of {', '.join(kind)}")


def optional(node: Node | None, read: Callable[[Node], T]) -> T | None:
    """What `read` makes of the node, or None where there is none."""
    return None if node is None else read(node)


def triple(node: Node) -> tuple[int, int, int]:
    """Three whole numbers: (x, y, z)."""
    values = [entry.whole() for entry in node.items()]
    if len(values) != 3:
        node.fail(f"got {len(values)} numbers, expected three (x, y, z)")
    return values[0], values[1], values[2]


def capability(node: Node) -> tuple[int, int]:
    """A compute capability: (major, minor) from "8.9"."""
    found = re.fullmatch(r"([0-9]{1,4})\.([0-9]{1,4})", node.text())
    if found is None:
        node.fail(f'got {describe(node.value)}, expected major.minor, as in "8.9"')
    return int(found[1]), int(found[2])
