"""The card that reports are of: from the device attributes in them, or as the user says."""

from collections.abc import Mapping, Sequence

from rooflens.analysis.hardware import DriverAttributes, describe_card, find_card
from rooflens.analysis.hardware.match import card_of_driver_name
from rooflens.analysis.readers.report_file import ReportedCard, ReportFile
from rooflens.errors import UsageError
from rooflens.hardware import HardwareSpec
from rooflens.measurement import Measurement


def card_of(
    files: Sequence[ReportFile], asked: str | None
) -> tuple[HardwareSpec | None, tuple[str, ...]]:
    """The card whose roofs the launches are held against, or None; and notes on the choice.

    `asked` is a name that find_card knows. UsageError if it cannot be the card of the reports:
    another name, or another compute capability.
    """
    cards = list(dict.fromkeys(card.name for file in files for card in file.cards))
    if asked is not None:
        return _asked(asked, files, cards)
    if not cards:
        return None, ("no report names a card: no roofs; say which card it was with --gpu CARD",)
    if len(cards) > 1:
        listed = ", ".join(cards)
        return None, (f"the launches are of several cards ({listed}): no roofs; import each alone",)
    described = [card for file in files for card in file.cards]
    attributes = next((found for card in described if (found := _attributes(card))), None)
    if attributes is not None:
        return describe_card(attributes), ("the card's attributes are as the report has them",)
    named = card_of_driver_name(cards[0])
    if named is not None:
        return named, (f"card by its name alone: the report calls it {cards[0]}",)
    return None, (f"{cards[0]} is not in the table of known cards: no roofs; give --gpu CARD",)


def _asked(
    asked: str, files: Sequence[ReportFile], cards: Sequence[str]
) -> tuple[HardwareSpec, tuple[str, ...]]:
    card = find_card(asked)
    for name in cards:
        named = card_of_driver_name(name)
        if named is not None and named.name != card.name:
            raise UsageError(f"--gpu {asked!r} means {card.name}, but a report is of {name}")
    wanted = card.compute_capability
    for file in files:
        for one in file.measurements:
            stated = _capability(one)
            if stated is not None and stated != wanted:
                raise UsageError(
                    f"--gpu {asked!r} means {card.name} of compute capability "
                    f"{wanted[0]}.{wanted[1]}, but {one.kernel} ran on {stated[0]}.{stated[1]}"
                )
    return card, (f"the card is {card.name} by --gpu",)


def _capability(measurement: Measurement) -> tuple[int, int] | None:
    report = measurement.report
    return None if report is None else report.device.compute_capability


def _attributes(card: ReportedCard) -> DriverAttributes | None:
    """What the report holds of the driver's attributes; None where a needed one is not there."""
    told = _wholes(card.attributes)
    needed = (
        "compute_capability_major",
        "multiprocessor_count",
        "total_memory",
        "max_shared_memory_per_block_optin",
        "max_threads_per_block",
    )
    if any(told.get(name, 0) < 1 for name in needed) or "compute_capability_minor" not in told:
        return None
    sm_khz, memory_khz = told.get("clock_rate"), told.get("memory_clock_rate")
    return DriverAttributes(
        name=card.name,
        compute_capability=(told["compute_capability_major"], told["compute_capability_minor"]),
        sm_count=told["multiprocessor_count"],
        total_memory_bytes=told["total_memory"],
        shared_bytes_per_block_optin=told["max_shared_memory_per_block_optin"],
        threads_per_block=told["max_threads_per_block"],
        sm_clock_hz=None if sm_khz is None else sm_khz * 1e3,
        memory_clock_hz=None if memory_khz is None else memory_khz * 1e3,
        memory_bus_bits=told.get("global_memory_bus_width"),
        l2_bytes=told.get("l2_cache_size"),
        shared_bytes_per_sm=told.get("max_shared_memory_per_multiprocessor"),
        threads_per_sm=told.get("max_threads_per_multiprocessor"),
        blocks_per_sm=told.get("max_blocks_per_multiprocessor"),
        registers_per_sm=told.get("max_registers_per_multiprocessor"),
        reserved_shared_bytes_per_block=told.get("reserved_shared_memory_per_block"),
    )


def _wholes(attributes: Mapping[str, float]) -> dict[str, int]:
    return {
        name: int(value)
        for name, value in attributes.items()
        if 0 <= value < 2**62 and value.is_integer()
    }
