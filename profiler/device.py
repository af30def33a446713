"""What runs kernels: a card, or the model where there is none. A simulator is a third kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rooflens.hardware import HardwareSpec
from rooflens.kernels.spec import AnyKernelSpec, Size
from rooflens.measurement import Measurement
from rooflens.precision import DType
from rooflens.profiler.timing.policy import TimingPolicy
from rooflens.run import Calibration
from rooflens.terms import CacheState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How each kernel is run: cache states to time, when to stop, and the seed of its inputs."""

    cache_states: tuple[CacheState, ...] = (CacheState.HOT, CacheState.COLD)
    timing: TimingPolicy = field(default_factory=TimingPolicy)
    seed: int = 20230801


class Device(Protocol):
    """Runs one kernel at one size and records what came of it."""

    @property
    def kind(self) -> str:
        """ "cuda" or "model"; the run's device_kind."""
        ...

    @property
    def hardware(self) -> HardwareSpec: ...

    @property
    def calibration(self) -> Calibration | None: ...

    @property
    def free_bytes(self) -> int | None:
        """Device memory that buffers may take; None where unknown."""
        ...

    def versions(self) -> Mapping[str, str | None]:
        """Fields of Provenance that the device knows: driver, NVRTC and library versions."""
        ...

    def run(
        self, kernel: AnyKernelSpec, size: Size, dtype: DType, options: RunOptions
    ) -> Measurement:
        """The record of `kernel`; raises only RooflensErrors, which become the row's reason."""
        ...

    def close(self) -> None:
        """Gives back what the device holds. Leaving it out harms nothing."""
        ...
