"""From what the driver calls a card to its row of the table, or to none."""

from rooflens.analysis.hardware.attributes import DriverAttributes
from rooflens.analysis.hardware.driver_names import BY_NORMALISED, normalised
from rooflens.analysis.hardware.table import known_cards
from rooflens.hardware import HardwareSpec

MEMORY_TOLERANCE = 0.1
"""Drivers report 1 to 9 % less than a data sheet: firmware and error correction take a share."""


def match_driver_name(name: str, attributes: DriverAttributes) -> HardwareSpec | None:
    """The card of the table that the driver's `name` means, if `attributes` agree with it.

    The name must be one of the spelled-out driver names. Compute capability and SM count must be
    the table's, and the memory size within 10 %, so that a slice of a card, or a smaller card of
    the same name, never gets the whole card's peaks.
    """
    card = card_of_driver_name(name)
    return card if card is not None and disagreement(card, attributes) is None else None


def card_of_driver_name(name: str) -> HardwareSpec | None:
    """The card of the table that goes by this driver name, whatever the attributes."""
    card_name = BY_NORMALISED.get(normalised(name))
    return next((card for card in known_cards() if card.name == card_name), None)


def disagreement(card: HardwareSpec, attributes: DriverAttributes) -> str | None:
    """In words, how the driver's attributes differ from `card`; None if they agree."""
    if attributes.compute_capability != card.compute_capability:
        return (
            f"compute capability {_dotted(attributes.compute_capability)}, "
            f"not {_dotted(card.compute_capability)}"
        )
    if attributes.sm_count != card.limits.sm_count:
        return f"{attributes.sm_count} SMs, not {card.limits.sm_count}"
    if card.dram_bytes is None:
        return "a memory size that the table lacks"
    if abs(attributes.total_memory_bytes - card.dram_bytes) > MEMORY_TOLERANCE * card.dram_bytes:
        return (
            f"{attributes.total_memory_bytes / 2**30:.1f} GiB of memory, "
            f"not {card.dram_bytes / 2**30:.0f} GiB"
        )
    return None


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"
