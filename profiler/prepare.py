"""From a kernel and a size to code that is ready to launch; the same for every kind of device."""

from dataclasses import dataclass

import numpy as np

from rooflens.errors import CompileError, DoesNotFitError, NotSupportedError, UsageError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.sources import source_path
from rooflens.kernels.spec import AnyKernelSpec, Launch, Plan, Pointer, Size
from rooflens.measurement import LaunchRecord, Measurement
from rooflens.precision import DType
from rooflens.profiler.compile import Architecture, CompileCache, CompiledCode, compile_source
from rooflens.terms import Basis, Status
from rooflens.units import byte_count

POINTER_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A variant planned for one size and compiled for one card."""

    kernel: AnyKernelSpec
    size: Size
    dtype: DType
    plan: Plan
    code: CompiledCode

    def record(self, *, status: Status, basis: Basis, reason: str | None = None) -> Measurement:
        """The row as far as it is known before anything runs; times and checks are added to it."""
        return Measurement(
            kernel=self.kernel.name,
            family=self.kernel.family.name,
            variant=self.kernel.variant,
            dtype=self.dtype,
            size=self.size.as_dict(),
            status=status,
            basis=basis,
            reason=reason,
            cost=self.plan.cost,
            working_set_bytes=self.plan.working_set_bytes,
            launches=tuple(
                LaunchRecord(
                    entry=launch.entry,
                    grid=launch.grid,
                    block=launch.block,
                    dynamic_shared_bytes=launch.dynamic_shared_bytes,
                    cost=launch.cost,
                    resources=self.code.entries.get(launch.entry),
                )
                for launch in self.plan.launches
            ),
            architecture=self.code.target,
            source_hash=self.code.source_hash,
            notes=self.code.notes,
        )


def plan_kernel(
    kernel: AnyKernelSpec, size: Size, dtype: DType, limits: LaunchLimits, memory_bytes: int | None
) -> Plan:
    """The plan of a variant, refused where the dtype or the card's memory rules it out.

    Raises NotSupportedError for what the variant cannot do, DoesNotFitError with the numbers for
    buffers over `memory_bytes`.
    """
    if dtype not in kernel.dtypes:
        raise NotSupportedError(
            f"{kernel.name} has no {dtype} version; it has {', '.join(kernel.dtypes)}"
        )
    if not isinstance(size, kernel.family.size_type):
        raise UsageError(f"{kernel.name} takes a {kernel.family.size_type.__name__}, got {size!r}")
    plan = kernel.plan(size, dtype, limits)
    if memory_bytes is not None and plan.working_set_bytes > memory_bytes:
        raise DoesNotFitError(
            f"{kernel.name} at {size} needs {byte_count(plan.working_set_bytes)} "
            f"({plan.working_set_bytes} bytes) of device memory, the device has "
            f"{byte_count(memory_bytes)} ({memory_bytes} bytes): choose a smaller size"
        )
    return plan


def prepare(
    kernel: AnyKernelSpec,
    size: Size,
    dtype: DType,
    *,
    limits: LaunchLimits,
    memory_bytes: int | None,
    cache: CompileCache | None,
) -> Prepared:
    """Plans, compiles, and checks each launch against the code before anything is launched.

    Raises what plan_kernel raises, CompileError with the log, UsageError for arguments that do not
    match the compiled parameters, NotSupportedError for more shared memory than a block may have.
    """
    plan = plan_kernel(kernel, size, dtype, limits, memory_bytes)
    major, minor = limits.compute_capability
    code = compile_source(
        source_path(kernel.source),
        architecture=Architecture(major=major, minor=minor, feature=kernel.arch_feature),
        defines=plan.defines,
        options=kernel.options,
        include_folders=kernel.include_folders,
        cache=cache,
    )
    for launch in plan.launches:
        check_arguments(launch, code)
        check_shared_memory(launch, code, limits)
    return Prepared(kernel=kernel, size=size, dtype=dtype, plan=plan, code=code)


def check_arguments(launch: Launch, code: CompiledCode) -> None:
    """Compares number and sizes of a launch's arguments with the compiled parameters.

    Raises CompileError for an entry point that the code lacks, UsageError for a mismatch. Code that
    does not tell its parameters (PTX) is not checked.
    """
    if code.entries and launch.entry not in code.entries:
        raise CompileError(
            f"no entry point {launch.entry!r} in the compiled code; it has {sorted(code.entries)}",
            log="",
            options=(),
        )
    parameters = code.parameters.get(launch.entry)
    if parameters is None:
        return
    given = [
        POINTER_BYTES if isinstance(one, Pointer) else np.dtype(one.ctype.value).itemsize
        for one in launch.arguments
    ]
    expected = [one.size for one in parameters]
    if given != expected:
        raise UsageError(
            f"{launch.entry} takes parameters of {expected} bytes, its launch gives {given}: "
            "mend the plan or the signature"
        )


def check_shared_memory(launch: Launch, code: CompiledCode, limits: LaunchLimits) -> None:
    """Static and dynamic shared memory together must fit what a block may have."""
    resources = code.entries.get(launch.entry)
    static = resources.shared_bytes if resources else 0
    if static + launch.dynamic_shared_bytes > limits.shared_bytes_per_block:
        raise NotSupportedError(
            f"{launch.entry} needs {static} + {launch.dynamic_shared_bytes} bytes of shared memory "
            f"a block, this card gives {limits.shared_bytes_per_block}"
        )
