"""`rooflens decode-cost`: what a decoded token reads of the weights and of the cache."""

import dataclasses
import json
import math
import sys

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from rooflens import units
from rooflens.analysis.decode_cost import DecodeCost, DecodeModel, decode_cost
from rooflens.analysis.hardware import DEFAULT_CARD, find_card
from rooflens.cli.console import stdout_console
from rooflens.cli.options import TextFormat
from rooflens.errors import UsageError
from rooflens.hardware import Ceiling, HardwareSpec
from rooflens.terms import Basis, MemoryLevel

LARGEST_LENGTH = 2**31 - 1
MOST_PARAMETERS = 1e15
MOST_BITS = 64


def lengths_up_to(longest: int) -> tuple[int, ...]:
    """Powers of two from 128 on, and `longest`. Raises UsageError where it is out of range."""
    if not 1 <= longest <= LARGEST_LENGTH:
        raise UsageError(f"--length must be from 1 to {LARGEST_LENGTH}, got {longest}")
    powers = (2**power for power in range(7, longest.bit_length()))
    return tuple(dict.fromkeys([*(one for one in powers if one < longest), longest]))


def weight_bytes(parameters: float, bits: float) -> int:
    """Bytes of so many parameters; UsageError where either is out of range."""
    if not 1 <= parameters <= MOST_PARAMETERS:
        raise UsageError(f"--parameters must be from 1 to {MOST_PARAMETERS:g}, got {parameters:g}")
    if not 1 <= bits <= MOST_BITS:
        raise UsageError(f"--weight-bits must be from 1 to {MOST_BITS}, got {bits:g}")
    return math.ceil(parameters * bits / 8)


def print_decode_cost(
    model: DecodeModel, longest: int, target: str | None, output: TextFormat
) -> int:
    """Prints the model's step at doubling lengths, at the DRAM bandwidth of a card."""
    card = find_card(DEFAULT_CARD if target is None else target)
    roof = card.bandwidths.get(MemoryLevel.DRAM)
    rate = None if roof is None else roof.per_s
    costs = [decode_cost(model, length, rate) for length in lengths_up_to(longest)]
    if output is TextFormat.JSON:
        json.dump(_document(model, costs, card, roof), sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
        return 0
    console = stdout_console()
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for heading in (
        "length",
        "weights",
        "cache",
        "of it\ncache",
        "bytes per\ntoken",
        "step,\nat least",
    ):
        table.add_column(heading, justify="right", no_wrap=True, vertical="bottom")
    for cost in costs:
        table.add_row(
            str(cost.length),
            units.byte_count(cost.weight_bytes),
            units.byte_count(cost.cache_bytes),
            units.fraction(cost.cache_share),
            units.byte_count(cost.bytes_per_token),
            units.seconds(cost.time_s),
        )
    console.print(table, soft_wrap=True)
    roof_text = "an unknown DRAM bandwidth"
    if roof is not None:
        roof_text = f"{units.byte_rate(roof.per_s)} of DRAM bandwidth ({roof.basis})"
    for text in (
        f"modelled: each weight once for the batch of {model.batch}, each cached key and value "
        f"once, at {card.name}'s {roof_text}",
        f"a token takes {units.byte_count(model.token_cache_bytes)} of cache; the caches are as "
        f"large as the weights at {units.number(model.equal_length)} tokens a sequence",
        *_too_large(costs, card),
    ):
        console.print(Text(text), soft_wrap=not console.is_terminal)
    return 0


def _too_large(costs: list[DecodeCost], card: HardwareSpec) -> tuple[str, ...]:
    """From which length on the card's memory does not hold weights and caches."""
    memory = card.dram_bytes
    if memory is None:
        return ()
    over = [one.length for one in costs if one.weight_bytes + one.cache_bytes > memory]
    if not over:
        return ()
    return (
        f"from length {over[0]} on, weights and caches are more than the {card.name}'s "
        f"{units.byte_count(memory)} of memory",
    )


def _document(
    model: DecodeModel, costs: list[DecodeCost], card: HardwareSpec, roof: Ceiling | None
) -> dict[str, object]:
    return {
        "basis": Basis.MODELLED.value,
        "device": card.name,
        "bandwidth": None
        if roof is None
        else {"per_s": roof.per_s, "basis": roof.basis.value, "source": roof.source},
        "model": dataclasses.asdict(model),
        "token_cache_bytes": model.token_cache_bytes,
        "equal_length": model.equal_length,
        "steps": [dataclasses.asdict(cost) for cost in costs],
    }
