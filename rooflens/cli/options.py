"""Options that several commands share, and how their text becomes values."""

from enum import StrEnum

from rooflens.errors import UnknownNameError, UsageError
from rooflens.precision import DType
from rooflens.terms import CacheState, SizeSet

INTERRUPTED_CODE = 130
"""Exit code after SIGINT, as a shell reports it."""


class TextFormat(StrEnum):
    """A table for people, or JSON for programs."""

    TABLE = "table"
    JSON = "json"


class RunFormat(StrEnum):
    """How a stored run is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def parse_size(text: str) -> dict[str, int]:
    """{"rows": 128, "cols": 4096} from "rows=128,cols=4096".

    Raises UsageError for anything but distinct name=whole-number pairs.
    """
    size: dict[str, int] = {}
    for part in text.split(","):
        name, equals, digits = part.partition("=")
        name, digits = name.strip(), digits.strip()
        if not equals or not name:
            raise UsageError(f"--size takes name=value pairs as rows=128,cols=4096, got {text!r}")
        if name in size:
            raise UsageError(f"--size {text!r} gives {name} twice")
        unsigned = digits[1:] if digits[:1] in ("-", "+") else digits
        if not (unsigned.isascii() and unsigned.isdigit() and len(unsigned) <= 20):
            raise UsageError(f"--size {name} must be a whole number, got {digits!r}")
        size[name] = int(digits)
    return size


def parse_size_sets(text: str) -> tuple[SizeSet, ...]:
    """The default sets that "seed", "dram" or "all" stand for."""
    if text == "all":
        return tuple(SizeSet)
    if text not in tuple(SizeSet):
        raise UnknownNameError("set of sizes", text, (*SizeSet, "all"))
    return (SizeSet(text),)


def parse_cache_states(text: str) -> tuple[CacheState, ...]:
    """The states that "hot", "cold" or "both" stand for."""
    if text == "both":
        return (CacheState.HOT, CacheState.COLD)
    known = (CacheState.HOT, CacheState.COLD)
    if text not in known:
        raise UnknownNameError("cache state", text, (*known, "both"))
    return (CacheState(text),)


def parse_dtype(text: str) -> DType:
    """A storage type by its name; UnknownNameError lists the others."""
    if text not in tuple(DType):
        raise UnknownNameError("dtype", text, tuple(DType))
    return DType(text)
