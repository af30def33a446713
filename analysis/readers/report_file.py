"""What reading one report gives, whichever tool wrote it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rooflens.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCard:
    """What a report says of a launch's device: its name, and driver attributes by their names.

    Clocks are in kHz, as the driver tells them.
    """

    name: str
    attributes: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """What one file holds. pages: what it tells of kernels' instructions, which are of launches in
    this file or another. cards: the distinct devices that it describes. notes: what was decided or
    left out in reading it."""

    measurements: tuple[Measurement, ...]
    cards: tuple[ReportedCard, ...]
    notes: tuple[str, ...]
    pages: tuple[Measurement, ...] = ()
