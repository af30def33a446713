"""What cards can do: the table of known cards, and any card that the driver describes."""

from rooflens.analysis.hardware.attributes import DriverAttributes
from rooflens.analysis.hardware.describe import describe_card
from rooflens.analysis.hardware.find import DEFAULT_CARD, find_card
from rooflens.analysis.hardware.match import match_driver_name
from rooflens.analysis.hardware.table import known_cards, read_cards

__all__ = [
    "DEFAULT_CARD",
    "DriverAttributes",
    "describe_card",
    "find_card",
    "known_cards",
    "match_driver_name",
    "read_cards",
]
