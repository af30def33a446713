"""`rooflens devices`: the cards here and the known cards, with nominal peaks and ridge."""

import json
import sys
from typing import TYPE_CHECKING

from rooflens.analysis.hardware import describe_card, known_cards
from rooflens.analysis.roofline import ridge
from rooflens.cli.console import stdout_console
from rooflens.cli.options import TextFormat
from rooflens.errors import NotAvailableError
from rooflens.hardware import HardwareSpec
from rooflens.precision import Precision
from rooflens.terms import MemoryLevel
from rooflens.units import byte_count, byte_rate, flop_rate, number

if TYPE_CHECKING:
    from rich.table import Table

# A narrower terminal gets fewer columns, not clipped ones.
WIDE_ENOUGH = 110


def list_cards(output: TextFormat) -> int:
    """Prints the cards of this machine, or why there are none, and the table of known cards."""
    from rooflens.profiler.cuda import list_devices

    reason: str | None = None
    here: tuple[HardwareSpec, ...] = ()
    try:
        here = tuple(describe_card(attributes) for attributes in list_devices())
        reason = None if here else "the driver shows no GPU"
    except NotAvailableError as error:
        reason = str(error)
    if output is TextFormat.JSON:
        from rooflens.report.document import device_document

        document = {
            "here": [device_document(card) for card in here],
            "none_because": reason,
            "known": [device_document(card) for card in known_cards()],
        }
        json.dump(document, sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
        return 0
    console = stdout_console()
    console.print("Cards here", style="bold")
    if here:
        console.print(_table(here, console.width))
        for card in here:
            for note in card.notes:
                console.print(f"  {card.name}: {note}", markup=False)
    else:
        console.print(f"  none: {reason}", markup=False)
    console.print("\nKnown cards (nominal, dense peaks; ridge in FLOP/byte)", style="bold")
    console.print(_table(known_cards(), console.width))
    return 0


def _table(cards: tuple[HardwareSpec, ...], width: int) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("card", no_wrap=True)
    headings = ["cc", "SMs", "DRAM", "bandwidth", "FP32", "ridge", "L2", "FP16 tensor"]
    shown = headings if width >= WIDE_ENOUGH else headings[:-2]
    for heading in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    for card in cards:
        bandwidth, fp32 = card.bandwidths.get(MemoryLevel.DRAM), card.peaks.get(Precision.FP32)
        tensor = card.peaks.get(Precision.FP16_TENSOR_FP32_ACC)
        cells = (
            "{}.{}".format(*card.compute_capability),
            str(card.limits.sm_count),
            byte_count(card.dram_bytes),
            byte_rate(bandwidth.per_s if bandwidth else None),
            flop_rate(fp32.per_s if fp32 else None),
            number(ridge(fp32.per_s, bandwidth.per_s) if fp32 and bandwidth else None),
            byte_count(card.l2_bytes),
            flop_rate(tensor.per_s if tensor else None),
        )
        table.add_row(Text(card.name), *cells[: len(shown)])
    return table
