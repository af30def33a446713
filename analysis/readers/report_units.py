"""Units of other tools' reports, as whole tokens, to factors of SI base units.

Byte prefixes are decimal there (1 Kbyte is 1000 bytes). Spellings changed about 2024: nsecond,
usecond, Gbyte/second and cycle/nsecond before, ns, us, Gbyte/s and Ghz after.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class Dimension(StrEnum):
    """What a quantity is of."""

    TIME = "time"
    BYTES = "bytes"
    BYTE_RATE = "bytes per second"
    FREQUENCY = "frequency"
    FRACTION = "fraction"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a value in this unit is multiplied by and then divided by, and what it then is.

    Two whole numbers, so that 42496 ns is the double nearest to 42.496e-6 s. base: the unit is that
    in which the tools count, which nothing has fractions of: bytes, nanoseconds, things.
    """

    times: float
    over: float
    dimension: Dimension
    base: bool = False

    def to_si(self, value: float) -> float:
        """The value in SI base units; a percentage as a fraction of 1."""
        return value * self.times / self.over


_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_PER_SECOND = {
    **dict.fromkeys(("ns", "nsec", "nsecond"), 1e9),
    **dict.fromkeys(("us", "usec", "usecond", "\u00b5s", "\u03bcs"), 1e6),
    **dict.fromkeys(("ms", "msec", "msecond"), 1e3),
    **dict.fromkeys(("s", "sec", "second"), 1.0),
}
_BYTE = re.compile(r"([kmgtp]?)(?:bytes?|b)", re.IGNORECASE)
_HERTZ = re.compile(r"([kmgt]?)hz", re.IGNORECASE)
_COUNTED = frozenset(
    (
        "1", "inst", "instruction", "warp", "thread", "block", "cycle", "sector", "sectors",
        "request", "requests", "register", "registers", "wavefront", "wavefronts", "branch",
        "branches", "sm", "cluster", "pass", "sample", "samples", "query", "bank", "tag", "tags",
    )
)  # fmt: skip


def unit_of(text: str) -> Unit | None:
    """The unit that a token stands for, or None for one that is not known.

    "" and "%" are known: a plain count, and a hundredth.
    """
    token = text.strip()
    if not token:
        return _PLAIN
    if token == "%":
        return Unit(times=1.0, over=100.0, dimension=Dimension.FRACTION)
    above, slash, below = token.partition("/")
    return _ratio(above, below) if slash else _single(token)


_PLAIN = Unit(times=1.0, over=1.0, dimension=Dimension.COUNT, base=True)


def _single(token: str) -> Unit | None:
    lowered = token.lower()
    if lowered in _PER_SECOND:
        over = _PER_SECOND[lowered]
        return Unit(times=1.0, over=over, dimension=Dimension.TIME, base=over == 1e9)
    if (found := _BYTE.fullmatch(token)) is not None:
        times = _PREFIXES[found[1].lower()]
        return Unit(times=times, over=1.0, dimension=Dimension.BYTES, base=times == 1)
    if (found := _HERTZ.fullmatch(token)) is not None:
        times = _PREFIXES[found[1].lower()]
        return Unit(times=times, over=1.0, dimension=Dimension.FREQUENCY)
    return _PLAIN if lowered in _COUNTED else None


def _ratio(above: str, below: str) -> Unit | None:
    """Per second is a rate; per cycle, block or thread leaves what is above as it is."""
    top = _single(above)
    if top is None:
        return None
    per_second = _PER_SECOND.get(below.lower())
    if per_second is None:
        bottom = _single(below)
        if bottom is None or bottom.dimension is not Dimension.COUNT:
            return None
        return Unit(times=top.times, over=top.over, dimension=top.dimension)
    rate = {Dimension.BYTES: Dimension.BYTE_RATE, Dimension.COUNT: Dimension.FREQUENCY}
    if top.dimension not in rate:
        return None
    return Unit(times=top.times * per_second, over=1.0, dimension=rate[top.dimension])
