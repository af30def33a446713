"""Numbers as other tools print them: in the locale of the process that wrote the file.

Nsight Compute groups thousands and marks decimals as its locale says, except for floats of exactly
six decimals, which it prints with a point whatever the locale. So "117.344" is 117344 in one file
and 117.344 in another, and only the whole file can tell. `decide_format` weighs the evidence of all
cells, and refuses where it is silent or contradicts itself.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rooflens.errors import DataFormatError

_SPACES = " \u00a0\u202f\u2009'\u2019"
_SHAPE = re.compile(
    rf"(?P<sign>[-+]?)(?P<digits>\d[\d.,{_SPACES}]*|[.,]\d+)(?P<exponent>[eE][-+]?\d{{1,3}})?"
)
_GROUPED = re.compile(r"\d{1,3}(?:X\d{3})+|\d{1,2}(?:X\d{2})+X\d{3}")
# What most cells are: the general way below reads them as well, only slower.
_ENGLISH = re.compile(r"(?:[0-9]{1,20}|[0-9]{1,3}(?:,[0-9]{3}){1,8})(?:\.[0-9]{1,20})?")
_SPACE = re.compile(rf"[{_SPACES}]")
_C_DECIMALS = 6
_MAX_DIGITS = 40
_NAMED = 3


class DecimalMark(StrEnum):
    """The character between a number's whole part and its fraction."""

    POINT = "point"
    COMMA = "comma"

    @property
    def character(self) -> str:
        return "." if self is DecimalMark.POINT else ","

    @property
    def other(self) -> "DecimalMark":
        return DecimalMark.COMMA if self is DecimalMark.POINT else DecimalMark.POINT


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberCell:
    """The text of a cell that should hold a number, and its place.

    whole: the quantity cannot have a fraction (bytes, cycles and nanoseconds in base units).
    """

    text: str
    line: int
    column: str
    whole: bool = False

    def __str__(self) -> str:
        return f"{self.text!r} (line {self.line}, {self.column})"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """How a file writes numbers, and why that was decided; None where no cell had a mark."""

    decimal: DecimalMark
    reason: str

    def parse(self, text: str) -> float | None:
        """The number that `text` is in this format, or None if it is none."""
        if self.decimal is DecimalMark.POINT and _ENGLISH.fullmatch(text) is not None:
            return float(text.replace(",", ""))
        return self._parse(text)

    def _parse(self, text: str) -> float | None:
        found = _SHAPE.fullmatch(text)
        if found is None or len(text) > _MAX_DIGITS:
            return None
        decimal, grouping = self.decimal.character, self.decimal.other.character
        digits = found["digits"]
        if decimal == "," and _c_float(digits):
            return float(text)
        whole, mark, fraction = digits.partition(decimal)
        if mark and not (fraction.isdigit() or not fraction):
            return None
        plain = _without_groups(whole, grouping)
        if plain is None:
            return None
        return float(f"{found['sign']}{plain or '0'}.{fraction or '0'}{found['exponent'] or ''}")


def decide_format(
    cells: Iterable[NumberCell],
    *,
    more: Iterable[NumberCell] = (),
    path: str,
    forced: DecimalMark | None = None,
) -> NumberFormat:
    """The one format in which all cells can be read; `more` are asked where `cells` do not tell.

    Marks that repeat, or that stand before other than three digits, or with another mark, prove
    what they are; so do three digits after a mark in a quantity that has no fractions. Six decimals
    after a point prove nothing. DataFormatError names the cells where two proofs contradict, or
    where only a guess would tell ("117.344" alone); `forced` then decides.
    """
    if forced is not None:
        return NumberFormat(decimal=forced, reason=f"decimal {forced} as asked for")
    proof, open_cells = _weigh(cells)
    if not proof:
        proof, further = _weigh(more)
        open_cells += further
    if len(proof) == len(DecimalMark):
        point, comma = proof[DecimalMark.POINT], proof[DecimalMark.COMMA]
        raise DataFormatError(
            f"numbers of two locales: {point} has a decimal point, {comma} a decimal comma; "
            "say which with --decimal point or --decimal comma",
            path=path,
            line=comma.line,
            field=comma.column,
        )
    if proof:
        mark, cell = next(iter(proof.items()))
        return NumberFormat(decimal=mark, reason=f"decimal {mark}, as {cell} shows")
    if open_cells:
        named = ", ".join(str(cell) for cell in open_cells[:_NAMED])
        raise DataFormatError(
            f"decimal mark or thousands separator? got {named}, and no cell of the file tells; "
            "say which with --decimal point or --decimal comma",
            path=path,
            line=open_cells[0].line,
            field=open_cells[0].column,
        )
    return NumberFormat(decimal=DecimalMark.POINT, reason="no number has a separator")


def _weigh(
    cells: Iterable[NumberCell],
) -> tuple[dict[DecimalMark, NumberCell], list[NumberCell]]:
    """A cell that proves each mark, and those that prove none though it matters."""
    proof: dict[DecimalMark, NumberCell] = {}
    undecided: list[NumberCell] = []
    for cell in cells:
        proved = decimal_proved(cell)
        if proved is not None:
            proof.setdefault(proved, cell)
            if len(proof) == len(DecimalMark):
                break
        elif _undecided(cell.text):
            undecided.append(cell)
    return proof, undecided


def decimal_proved(cell: NumberCell) -> DecimalMark | None:
    """The decimal mark that this cell alone proves, or None."""
    found = _SHAPE.fullmatch(cell.text)
    if found is None or _c_float(found["digits"]):
        return None
    digits = found["digits"]
    points, commas = digits.count("."), digits.count(",")
    if not points and not commas:
        return None
    mark = _last_mark(digits)
    if points + commas > 1:
        return mark if points and commas else mark.other
    before, _, after = digits.partition(mark.character)
    if len(after) != 3 or found["exponent"] or _SPACE.search(before):
        return mark
    if len(before) > 3 or before.startswith("0") or not before:
        return mark
    return mark.other if cell.whole else None


def _last_mark(digits: str) -> DecimalMark:
    return DecimalMark.POINT if digits.rfind(".") > digits.rfind(",") else DecimalMark.COMMA


def _undecided(text: str) -> bool:
    """Whether the cell reads as one number with a decimal point and as another with a comma."""
    readings = {NumberFormat(decimal=mark, reason="").parse(text) for mark in DecimalMark}
    return len(readings) > 1


def _c_float(digits: str) -> bool:
    before, point, after = digits.partition(".")
    return bool(point) and len(after) == _C_DECIMALS and before.isdigit() and after.isdigit()


def _without_groups(whole: str, grouping: str) -> str | None:
    """The digits of a whole part whose groups are separated rightly, or None."""
    marks = {one for one in whole if not one.isdigit()}
    if not marks:
        return whole
    if len(marks) > 1 or not (marks <= {grouping} or marks <= set(_SPACES)):
        return None
    mark = marks.pop()
    if _GROUPED.fullmatch(whole.replace(mark, "X")) is None:
        return None
    return whole.replace(mark, "")
