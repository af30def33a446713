"""A run: the measurements of one session on one device, and where they come from."""

from dataclasses import dataclass

from rooflens.hardware import HardwareSpec
from rooflens.measurement import Measurement

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The event constant of one device in one session, in seconds.

    An event pair around a launch reads event_constant_s more than the kernel takes: the empty
    kernel by event pair (empty_event_pair_s) less the empty kernel by graph (empty_graph_s).
    resolution_s is the spread (p90 - p10) of the empty kernel's event pairs, at least one timer
    tick: what a cold time can be told apart by.
    """

    event_constant_s: float
    empty_event_pair_s: float
    empty_graph_s: float
    resolution_s: float
    samples: int


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
    """One session's results. device_kind is "cuda", or "model" where nothing was executed."""

    device_kind: str
    hardware: HardwareSpec
    provenance: Provenance
    measurements: tuple[Measurement, ...]
