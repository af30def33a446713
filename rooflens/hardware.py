"""What a card can do: its ceilings and limits, each with its source. What is unknown is absent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rooflens.errors import UsageError
from rooflens.precision import Precision
from rooflens.terms import CeilingBasis, MemoryLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """A peak rate in bytes/s or FLOP/s, what it rests on, and where it was found."""

    per_s: float
    basis: CeilingBasis
    source: str

    def __post_init__(self) -> None:
        if not 0 < self.per_s < float("inf"):
            raise UsageError(f"a ceiling must be a positive finite rate, got {self.per_s!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchLimits:
    """What a launch on a card may use; the part of a HardwareSpec that kernels plan with.

    `shared_bytes_per_block` is the most a block may have after opting in (static plus dynamic).
    """

    compute_capability: tuple[int, int]
    sm_count: int
    shared_bytes_per_block: int
    threads_per_block: int = 1024
    shared_bytes_per_sm: int | None = None
    threads_per_sm: int | None = None
    blocks_per_sm: int | None = None
    registers_per_sm: int | None = None
    reserved_shared_bytes_per_block: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareSpec:
    """One card: dense nominal peaks, bandwidths and capacities in SI base units.

    `sources` says for each scalar field where its value comes from (a table's source codes, or the
    driver attribute); `notes` holds what is uncertain. `driver_uuid` is set for a card at hand.
    """

    name: str
    architecture: str | None
    limits: LaunchLimits
    sm_clock_hz: float | None
    dram_bytes: int | None
    l2_bytes: int | None
    bandwidths: Mapping[MemoryLevel, Ceiling]
    peaks: Mapping[Precision, Ceiling]
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    driver_uuid: str | None = None

    @property
    def compute_capability(self) -> tuple[int, int]:
        """(major, minor), as in 8.9."""
        return self.limits.compute_capability
