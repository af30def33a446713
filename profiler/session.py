"""A session: every chosen kernel at every chosen size on one device, kept whatever happens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rooflens.errors import (
    DoesNotFitError,
    NotAvailableError,
    NotSupportedError,
    RooflensError,
    UsageError,
)
from rooflens.kernels.spec import AnyKernelSpec, Size
from rooflens.measurement import Measurement
from rooflens.precision import DType
from rooflens.profiler.device import Device, RunOptions
from rooflens.profiler.prepare import plan_kernel
from rooflens.profiler.provenance import provenance_now
from rooflens.run import Provenance, Run
from rooflens.terms import Basis, SizeSet, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One row to be: a kernel, a size and a dtype."""

    kernel: AnyKernelSpec
    size: Size
    dtype: DType

    def __str__(self) -> str:
        return f"{self.kernel.name} {self.size} {self.dtype}"


INTERRUPTED = "interrupted"
"""Reason of the row that was running when the user stopped the session."""

Progress = Callable[[int, int, str], None]
"""Told (jobs done, jobs in all, what is next) before each job and once at the end."""


def plan_jobs(
    kernels: Sequence[AnyKernelSpec],
    *,
    size_sets: Sequence[SizeSet],
    sizes: Sequence[Mapping[str, int]] = (),
    dtypes: Sequence[DType] = (),
) -> tuple[Job, ...]:
    """All rows of a session: families in order, then sizes, dtypes and the ladder's variants.

    `sizes` (field names and values) take the place of the default sets where given, each for the
    families that have exactly those fields; a size that fits none of the chosen families is a
    UsageError. Without `dtypes` each kernel runs in its first one.
    """
    families = list(dict.fromkeys(kernel.family.name for kernel in kernels))
    members = {name: [one for one in kernels if one.family.name == name] for name in families}
    asked = {name: _asked_sizes(members[name][0], sizes) for name in families}
    for given in sizes:
        if not any(_fits(members[name][0], given) for name in families):
            wanted = "; ".join(
                f"{name}: {', '.join(members[name][0].family.size_type.field_names())}"
                for name in families
            )
            raise UsageError(f"size {_text(given)} fits no chosen family; fields are {wanted}")
    jobs: list[Job] = []
    for name in families:
        family = members[name][0].family
        if sizes and not asked[name]:
            continue
        defaults = tuple(size for chosen in size_sets for size in family.sizes.get(chosen, ()))
        for size in dict.fromkeys(asked[name] or defaults):
            for dtype in dict.fromkeys(dtypes) or (None,):
                jobs.extend(
                    Job(kernel=one, size=size, dtype=dtype or one.dtypes[0])
                    for one in members[name]
                )
    return tuple(jobs)


def check_explicit_sizes(jobs: Sequence[Job], device: Device) -> None:
    """Refuses, before anything runs, sizes that the user gave and the device cannot hold.

    Raises DoesNotFitError with the numbers of the first such job.
    """
    for job in jobs:
        try:
            plan_kernel(job.kernel, job.size, job.dtype, device.hardware.limits, device.free_bytes)
        except NotSupportedError:
            continue  # that becomes the row's reason


def run_jobs(
    jobs: Sequence[Job],
    device: Device,
    options: RunOptions,
    *,
    progress: Progress = lambda done, total, label: None,
) -> Iterator[Measurement]:
    """One measurement a job, in order; what goes wrong is the row's status and reason.

    After a KeyboardInterrupt the remaining rows are skipped, with that as their reason, so that
    nothing already measured is lost.
    """
    interrupted = False
    for done, job in enumerate(jobs):
        progress(done, len(jobs), str(job))
        if interrupted:
            yield _row(job, Status.SKIPPED, "interrupted before its turn")
            continue
        try:
            yield device.run(job.kernel, job.size, job.dtype, options)
        except KeyboardInterrupt:
            interrupted = True
            yield _row(job, Status.SKIPPED, INTERRUPTED)
        except (NotSupportedError, DoesNotFitError, NotAvailableError) as error:
            yield _row(job, Status.SKIPPED, str(error))
        except RooflensError as error:
            yield _row(job, Status.FAILED, str(error))
        except MemoryError:
            yield _row(job, Status.SKIPPED, "this machine's memory does not hold the inputs")
        except Exception as error:  # noqa: BLE001 - a mistake in one kernel costs no other its row
            yield _row(job, Status.FAILED, f"{type(error).__name__}: {error}")
    progress(len(jobs), len(jobs), "")


def provenance(device: Device, *, arguments: Sequence[str], headers: str | None) -> Provenance:
    """Where this session's numbers come from, as of now."""
    return provenance_now(
        arguments, versions=device.versions(), headers=headers, calibration=device.calibration
    )


def make_run(device: Device, measurements: Sequence[Measurement], source: Provenance) -> Run:
    """The session's rows with their provenance."""
    return Run(
        device_kind=device.kind,
        hardware=device.hardware,
        provenance=source,
        measurements=tuple(measurements),
    )


def _row(job: Job, status: Status, reason: str) -> Measurement:
    return Measurement(
        kernel=job.kernel.name,
        family=job.kernel.family.name,
        variant=job.kernel.variant,
        dtype=job.dtype,
        size=job.size.as_dict(),
        status=status,
        basis=Basis.MODELLED,
        reason=reason,
    )


def _fits(kernel: AnyKernelSpec, size: Mapping[str, int]) -> bool:
    return set(size) == set(kernel.family.size_type.field_names())


def _asked_sizes(kernel: AnyKernelSpec, sizes: Sequence[Mapping[str, int]]) -> tuple[Size, ...]:
    return tuple(kernel.family.size_type(**size) for size in sizes if _fits(kernel, size))


def _text(size: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in size.items())
