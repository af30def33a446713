"""One kernel at one size on one device: what ran, how it went, every number with a basis."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rooflens.cost import Cost
from rooflens.errors import UsageError
from rooflens.precision import DType
from rooflens.reported import Report
from rooflens.terms import Basis, CacheState, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """How far a result is from its float64 reference.

    max_abs_error: largest |out - ref|. relative_l2_error: ||out - ref|| / ||ref||. Both are None
    where they are undefined (a NaN or infinity where the reference has none). tolerance_reason says
    why the limits are what they are; failure says in one sentence what was wrong.
    """

    passed: bool
    max_abs_error: float | None
    relative_l2_error: float | None
    absolute_tolerance: float
    relative_tolerance: float
    tolerance_reason: str
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSamples:
    """Raw times of one kernel in one cache state, in seconds, in the order they were taken.

    Each sample is already the time of one run of the kernel: a graph's time divided by
    `launches_per_sample`, or an event pair's time less `correction_s`, the event constant measured
    on this device in this session. `resolution_s` is what the method can tell apart; a median that
    is not above it is not resolved. `stopped_by` is "interval" (95 % interval of the median under
    the target), "budget" (time ran out first) or "report" (as many as another tool tells).
    """

    samples_s: tuple[float, ...]
    method: str
    launches_per_sample: int
    correction_s: float
    resolution_s: float
    stopped_by: str

    def __post_init__(self) -> None:
        if not self.samples_s:
            raise UsageError("time samples are empty; a time that was not taken must be absent")
        if self.launches_per_sample < 1:
            raise UsageError(f"launches_per_sample must be >= 1, got {self.launches_per_sample}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What the compiled code of one entry point takes, as the compiler reports it.

    spill_bytes: register spill stores and loads, in bytes of code traffic per thread as ptxas
    prints them. local_bytes: stack frame per thread. shared_bytes: static shared memory per block.
    """

    registers: int
    shared_bytes: int
    spill_bytes: int
    local_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """One launch of a kernel: entry point, shape, resources and its own cost."""

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int
    cost: Cost
    resources: Resources | None = None

    @property
    def threads(self) -> int:
        """Threads launched in all."""
        return (
            self.grid[0]
            * self.grid[1]
            * self.grid[2]
            * self.block[0]
            * self.block[1]
            * self.block[2]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The record of one kernel at one size. Absent is None or empty, never 0.

    basis: of the row's times, or MODELLED where there are none. architecture: what the code was
    compiled for ("sm_89"). source_hash: SHA-256 over the source, its includes and the options.
    working_set_bytes: bytes of all buffers that the kernel touches. report: what another tool says,
    on an IMPORTED row and on no other; such a row's `kernel` is the short name of any kernel, and
    it has no family, variant, dtype or cost, since no report holds them.
    """

    kernel: str
    family: str | None = None
    variant: str | None = None
    dtype: DType | None = None
    size: Mapping[str, int] = field(default_factory=dict)
    status: Status
    basis: Basis
    reason: str | None = None
    cost: Cost | None = None
    working_set_bytes: int | None = None
    launches: tuple[LaunchRecord, ...] = ()
    architecture: str | None = None
    source_hash: str | None = None
    verification: Verification | None = None
    times: Mapping[CacheState, TimeSamples] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    report: Report | None = None

    def __post_init__(self) -> None:
        if (self.report is not None) != (self.basis is Basis.IMPORTED):
            raise UsageError(f"{self.kernel}: a report belongs to an imported row and to no other")
        if any((state is CacheState.REPORTED) != (self.report is not None) for state in self.times):
            raise UsageError(f"{self.kernel}: reported times belong to imported rows, others not")
        if self.report is None and self.dtype is None:
            raise UsageError(f"{self.kernel}: a row of the catalogue has a dtype")
        if self.report is None and self.kernel != f"{self.family}.{self.variant}":
            raise UsageError(
                f"kernel must be family.variant, got {self.kernel!r} of family {self.family!r} and "
                f"variant {self.variant!r}"
            )
        if self.status is not Status.OK and not self.reason:
            raise UsageError(f"{self.kernel}: status {self.status} needs a reason")
        if self.times and self.basis is Basis.MODELLED:
            raise UsageError(f"{self.kernel}: a modelled row cannot hold measured times")

    @property
    def resources(self) -> Resources | None:
        """The largest of each resource over the launches; None if any launch's is unknown."""
        known = [launch.resources for launch in self.launches if launch.resources is not None]
        if not known or len(known) != len(self.launches):
            return None
        return Resources(
            registers=max(one.registers for one in known),
            shared_bytes=max(
                launch.resources.shared_bytes + launch.dynamic_shared_bytes
                for launch in self.launches
                if launch.resources is not None
            ),
            spill_bytes=max(one.spill_bytes for one in known),
            local_bytes=max(one.local_bytes for one in known),
        )
