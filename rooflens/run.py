"""A run: the measurements of one session on one device, and where they come from."""

from dataclasses import dataclass
from enum import StrEnum

from rooflens.hardware import HardwareSpec
from rooflens.measurement import Measurement

SCHEMA_VERSION = 1


class ColdClock(StrEnum):
    """What takes the times before and after a cold launch.

    STAMPS: one-thread kernels that write down the device's nanosecond counter, for devices whose
    counter ticks finely. EVENTS: CUDA events, whose constant varies more from kernel to kernel.
    """

    STAMPS = "stamps"
    EVENTS = "events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the ways of timing add to a launch, measured on one device in one session, in seconds.

    A run keeps that of its start; the constants are measured again with each kernel's buffers in
    place, and each kernel's times keep what was subtracted from them.

    empty_graph_s: an empty kernel, as one node of a graph of many. hot_constant_s: what the spacer
    after each node of a hot graph adds. cold_first_s and cold_following_s: what the interval
    between two cold clock readings is longer than the launch in it, for the first launch after an
    eviction and for those after it. Each constant is the empty kernel's reading less empty_graph_s.
    resolution_s: spread (p90 - p10) of the empty kernel's cold readings, at least one clock tick;
    what one cold time can be told apart by. samples: cold readings behind it.
    """

    cold_clock: ColdClock
    empty_graph_s: float
    hot_constant_s: float
    cold_first_s: float
    cold_following_s: float
    resolution_s: float
    samples: int

    def cold_constant_s(self, launches: int) -> float:
        """What is subtracted from the summed readings of a run of so many launches."""
        return self.cold_first_s + (launches - 1) * self.cold_following_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a run's numbers come from; None where the machine could not tell.

    headers names the chosen CUDA header folder by its origin (a wheel or a system toolkit) and
    version, not by a path of the machine. arguments are those of the command line.
    """

    created_utc: str
    rooflens_version: str
    git_revision: str | None
    python_version: str
    platform: str
    driver_version: str | None = None
    driver_cuda_version: str | None = None
    nvrtc_version: str | None = None
    cuda_bindings_version: str | None = None
    cuda_core_version: str | None = None
    headers: str | None = None
    arguments: tuple[str, ...] = ()
    calibration: Calibration | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One session's results.

    device_kind is "cuda", "model" where nothing was executed, or "report" for what other tools
    measured. hardware is None where a report names no card, or several.
    """

    device_kind: str
    hardware: HardwareSpec | None
    provenance: Provenance
    measurements: tuple[Measurement, ...]

    @property
    def card_name(self) -> str:
        """The card's name, or that it is unknown."""
        return "unknown card" if self.hardware is None else self.hardware.name
