"""Numbers as people read them: about three significant digits and an engineer's unit.

Values come in SI base units (seconds, bytes, FLOP, hertz) and fractions from 0 to 1; prefixes are
decimal. None is "-". What is not finite is shown as it is ("nan s", "inf B"), never hidden.
"""

import math

ABSENT = "-"

_SCALES = ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P"), (1e18, "E"))
_TIMES: tuple[tuple[float, str], ...] = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))
_EXACT_COUNT_BELOW = 1_000_000
_NANOSECONDS_BELOW_S = 0.1e-6


def seconds(value_s: float | None) -> str:
    """A time: "3.22 us", "0.51 us", "1.25 ms". Nanoseconds are used below 0.1 us only."""
    if value_s is None:
        return ABSENT
    scales = _TIMES
    if not abs(value_s) < _NANOSECONDS_BELOW_S or value_s == 0:
        scales = _TIMES[1:]
    return _scaled(value_s, scales)


def byte_count(value_bytes: float | None) -> str:
    """An amount of data in decimal units: "512 B", "4.19 MB"."""
    return _prefixed(value_bytes, "B")


def byte_rate(value_per_s: float | None) -> str:
    """A bandwidth: "2.56 TB/s"."""
    return _prefixed(value_per_s, "B/s")


def flop_rate(value_per_s: float | None) -> str:
    """An arithmetic rate: "82.6 TFLOP/s"."""
    return _prefixed(value_per_s, "FLOP/s")


def hertz(value_hz: float | None) -> str:
    """A frequency: "1.98 GHz"."""
    return _prefixed(value_hz, "Hz")


def count(value: int | None) -> str:
    """A number of things: exact below a million ("65536"), then "16.8 M"."""
    if value is None:
        return ABSENT
    if abs(value) < _EXACT_COUNT_BELOW:
        return str(value)
    return _prefixed(value, "")


def fraction(value: float | None) -> str:
    """A fraction of 1 as a percentage: 0.941 is "94.1 %"; under 0.01 % is said to be that."""
    if value is None:
        return ABSENT
    return "< 0.01 %" if 0 < value < 1e-4 else f"{number(value * 100)} %"


def number(value: float | None) -> str:
    """A plain number with about three significant digits and no prefix: "0.625", "81.9", "2563"."""
    if value is None:
        return ABSENT
    thousandths = f"{value:.3f}"
    return thousandths if 0.1 <= abs(value) < 0.9995 else _scaled(value, ((1.0, ""),))


def _prefixed(value: float | None, unit: str) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, int) and abs(value) < 1000:
        return f"{value} {unit}"
    return _scaled(value, tuple((scale, prefix + unit) for scale, prefix in _SCALES))


def _scaled(value: float, scales: tuple[tuple[float, str], ...]) -> str:
    """The value in the first unit in which it rounds to less than 1000, else in the last."""
    if not math.isfinite(value):
        base = next(unit for scale, unit in scales if scale == 1.0)
        return f"{value} {base}".rstrip()
    for scale, unit in scales:
        text = _three_digits(value / scale)
        if text is not None:
            return f"{text} {unit}".rstrip()
    scale, unit = scales[-1]
    return f"{_many_digits(value / scale)} {unit}".rstrip()


def _three_digits(value: float) -> str | None:
    """At most three digits before rounding away, or None for 1000 and more."""
    if value == 0:
        return "0"
    if abs(value) < 0.0995:
        return f"{value:.3g}"
    for decimals, limit in ((2, 10), (1, 100), (0, 1000)):
        if abs(round(value, decimals)) < limit:
            return f"{value:.{decimals}f}"
    return None


def _many_digits(value: float) -> str:
    return f"{value:.0f}" if abs(value) < _EXACT_COUNT_BELOW else f"{value:.2e}"
