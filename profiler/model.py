"""The device of a machine without a GPU: kernels are compiled and costed, nothing is executed."""

from collections.abc import Mapping
from dataclasses import dataclass

from rooflens.hardware import HardwareSpec
from rooflens.kernels.spec import AnyKernelSpec, Size
from rooflens.measurement import Measurement
from rooflens.precision import DType
from rooflens.profiler.compile import CompileCache, nvrtc_version
from rooflens.profiler.device import RunOptions
from rooflens.profiler.prepare import prepare
from rooflens.profiler.revision import package_version
from rooflens.run import Calibration
from rooflens.terms import Basis, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDevice:
    """Stands in for a known card. Its rows have basis modelled, and no times."""

    hardware: HardwareSpec
    cache: CompileCache | None

    @property
    def kind(self) -> str:
        return "model"

    @property
    def calibration(self) -> Calibration | None:
        return None

    @property
    def free_bytes(self) -> int | None:
        return self.hardware.dram_bytes

    def versions(self) -> Mapping[str, str | None]:
        return {
            "nvrtc_version": ".".join(map(str, nvrtc_version())),
            "cuda_bindings_version": package_version("cuda-bindings"),
        }

    def run(
        self, kernel: AnyKernelSpec, size: Size, dtype: DType, options: RunOptions
    ) -> Measurement:
        """Compiles for the card and records resources and costs."""
        prepared = prepare(
            kernel,
            size,
            dtype,
            limits=self.hardware.limits,
            memory_bytes=self.free_bytes,
            cache=self.cache,
        )
        return prepared.record(status=Status.OK, basis=Basis.MODELLED)

    def close(self) -> None:
        """Holds nothing."""
