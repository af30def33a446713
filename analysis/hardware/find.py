"""Finding a card of the table by the name that a user types."""

import itertools
import re
from collections.abc import Iterator
from functools import cache

from rooflens.analysis.hardware.driver_names import DRIVER_NAMES
from rooflens.analysis.hardware.table import known_cards
from rooflens.errors import UnknownNameError, UsageError
from rooflens.hardware import HardwareSpec

DEFAULT_CARD = "GeForce RTX 4090"
"""The card that kernels are compiled for and modelled on where there is no GPU."""

_OMITTED = re.compile(r"geforce|tesla|rtx|jetson|sxm\d?|pcie|hbm3e?|\d+gb")


def find_card(name: str) -> HardwareSpec:
    """The card of the table that `name` means, whatever its case, spaces and hyphens.

    Words that tell no cards apart may be left out ("4090", "H200"). A name of several cards
    ("A100") is a UsageError that lists them; any other raises UnknownNameError with near matches.
    """
    cards = {card.name: card for card in known_cards()}
    meant = _names_by_spelling().get(_squashed(name))
    if meant is None:
        raise UnknownNameError("card", name, tuple(cards))
    first, *others = meant
    if others:
        raise UsageError(f"card {name!r} could be {' or '.join(meant)}: give one of these names")
    return cards[first]


def _squashed(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum()).removeprefix("nvidia")


@cache
def _names_by_spelling() -> dict[str, tuple[str, ...]]:
    meant: dict[str, tuple[str, ...]] = {}
    for card in known_cards():
        for spelling in _spellings(card.name):
            meant[spelling] = (*meant.get(spelling, ()), card.name)
    for driver_name, card_name in DRIVER_NAMES.items():
        # A driver's name without a figure ("Orin") is shared by cards that are not in the table.
        if re.search(r"\d", driver_name):
            meant.setdefault(_squashed(driver_name), (card_name,))
    return meant


def _spellings(card_name: str) -> set[str]:
    """Every order of the card's words, with and without those that may be omitted."""
    choices = [tuple(_spellings_of_word(word)) for word in card_name.casefold().split()]
    return {
        "".join(order)
        for words in itertools.product(*choices)
        for order in itertools.permutations(word for word in words if word)
    }


def _spellings_of_word(word: str) -> Iterator[str]:
    yield word
    if _OMITTED.fullmatch(word):
        yield ""
    if re.fullmatch(r"sxm\d", word):
        yield "sxm"
    if re.fullmatch(r"\d+gb", word):
        yield word.removesuffix("b")
