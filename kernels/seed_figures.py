"""What three texts on CUDA kernels for large-model operators report for these kernels.

Their figures are means of 100 runs on a GeForce RTX 4090, in float32; bandwidths count one read and
one write of the tensor. They stand here as printed, to be set beside a run of the same sizes.
"""

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FIGURES_FILE = Path(__file__).resolve().parent / "seed_figures.csv"
REFERENCE_CARD = "GeForce RTX 4090"
SOURCE = "three texts on CUDA kernels, means of 100 runs on a GeForce RTX 4090"
ITEM_BYTES = 4
MOVES = 2  # one read, one write


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedFigure:
    """One line of the texts. *_is_about: the text gives the figure as approximate.

    time_ms: as printed. time_step_s: half a step of the last printed digit of the time.
    bytes_per_s: as printed, None where the text has none. ratio: speed-up over the family's
    naive variant, as printed. tensor_bytes: one read and one write of the tensor; None where the
    family's bandwidths are not counted so.
    """

    kernel: str
    size: dict[str, int]
    time_ms: str
    time_s: float
    time_step_s: float
    time_is_about: bool
    bytes_per_s: float | None
    ratio: float
    ratio_is_about: bool
    tensor_bytes: int | None

    @property
    def family(self) -> str:
        return self.kernel.partition(".")[0]

    def rates(self) -> tuple[float, float] | None:
        """Bytes per second that the tensor and the time allow, as far as the time is printed."""
        if self.tensor_bytes is None:
            return None
        return (
            self.tensor_bytes / (self.time_s + self.time_step_s),
            self.tensor_bytes / (self.time_s - self.time_step_s),
        )

    def least_rate(self) -> float | None:
        """The printed bandwidth; without one, the least that the time and the tensor allow."""
        if self.bytes_per_s is not None:
            return self.bytes_per_s
        rates = self.rates()
        return None if rates is None else rates[0]


@cache
def seed_figures() -> tuple[SeedFigure, ...]:
    """All figures, in the order of the texts."""
    with FIGURES_FILE.open(encoding="utf-8", newline="") as stream:
        return tuple(_figure(row) for row in csv.DictReader(stream))


def _figure(row: dict[str, str]) -> SeedFigure:
    size = {
        name: int(extent)
        for name, _, extent in (part.partition("=") for part in row["size"].split(","))
    }
    _, _, decimals = row["time_ms"].partition(".")
    moved = math.prod(size.values()) * MOVES * ITEM_BYTES
    if "bias" in size:
        moved = size["rows"] * size["cols"] * MOVES * ITEM_BYTES
    return SeedFigure(
        kernel=row["kernel"],
        size=size,
        time_ms=row["time_ms"],
        time_s=float(row["time_ms"]) * 1e-3,
        time_step_s=0.5 * 10.0 ** -len(decimals) * 1e-3,
        time_is_about=row["time_is_about"] == "yes",
        bytes_per_s=float(row["gb_per_s"]) * 1e9 if row["gb_per_s"] else None,
        ratio=float(row["ratio"]),
        ratio_is_about=row["ratio_is_about"] == "yes",
        tensor_bytes=None if row["kernel"].startswith("attention.") else moved,
    )
