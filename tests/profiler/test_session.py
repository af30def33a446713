"""A session keeps every row, whatever happens to some of them."""

import dataclasses
from collections.abc import Mapping

import pytest

from rooflens.analysis.hardware import find_card
from rooflens.errors import (
    CompileError,
    DoesNotFitError,
    NotAvailableError,
    NotSupportedError,
    TimingError,
    UsageError,
)
from rooflens.hardware import HardwareSpec
from rooflens.kernels.registry import select
from rooflens.kernels.softmax import KERNELS, SoftmaxSize
from rooflens.kernels.spec import AnyKernelSpec, Size
from rooflens.measurement import Measurement
from rooflens.precision import DType
from rooflens.profiler.device import RunOptions
from rooflens.profiler.session import (
    Job,
    check_explicit_sizes,
    make_run,
    plan_jobs,
    provenance,
    run_jobs,
)
from rooflens.run import Calibration
from rooflens.terms import Basis, SizeSet, Status

SIZE = SoftmaxSize(rows=4, cols=8)


class FakeDevice:
    """Answers for softmax.naive as told, and with a plain row for every other kernel."""

    kind = "model"
    calibration: Calibration | None = None

    def __init__(self, naive: BaseException | None = None) -> None:
        self._naive = naive
        self.ran: list[str] = []

    @property
    def hardware(self) -> HardwareSpec:
        return find_card("RTX 4090")

    @property
    def free_bytes(self) -> int | None:
        return self.hardware.dram_bytes

    def versions(self) -> Mapping[str, str | None]:
        return {"nvrtc_version": "13.0"}

    def run(
        self, kernel: AnyKernelSpec, size: Size, dtype: DType, options: RunOptions
    ) -> Measurement:
        self.ran.append(kernel.name)
        if kernel.variant == "naive" and self._naive is not None:
            raise self._naive
        return Measurement(
            kernel=kernel.name,
            family=kernel.family.name,
            variant=kernel.variant,
            dtype=dtype,
            size=size.as_dict(),
            status=Status.OK,
            basis=Basis.MODELLED,
        )

    def close(self) -> None:
        pass


JOBS = tuple(Job(kernel=kernel, size=SIZE, dtype=DType.FLOAT32) for kernel in KERNELS)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotSupportedError("no"), Status.SKIPPED),
        (NotAvailableError("no", "get it"), Status.SKIPPED),
        (DoesNotFitError("no"), Status.SKIPPED),
        (MemoryError(), Status.SKIPPED),
        (CompileError("no", log="x.cu(3): error", options=()), Status.FAILED),
        (TimingError("no"), Status.FAILED),
    ],
)
def test_an_error_is_that_rows_reason_and_the_others_run(
    error: BaseException, status: Status
) -> None:
    rows = list(run_jobs(JOBS, FakeDevice(error), RunOptions()))
    assert [row.kernel for row in rows] == [job.kernel.name for job in JOBS]
    by_variant = {row.variant: row for row in rows}
    assert by_variant["naive"].status is status
    assert by_variant["naive"].reason
    assert all(row.status is Status.OK for row in rows if row.variant != "naive")


def test_an_interrupt_keeps_what_was_done_and_skips_the_rest() -> None:
    device = FakeDevice(KeyboardInterrupt())
    rows = list(run_jobs(JOBS, device, RunOptions()))
    assert [row.status for row in rows] == [Status.OK] * 2 + [Status.SKIPPED] * 5
    assert device.ran[-1] == "softmax.naive"
    assert rows[2].reason == "interrupted"
    assert rows[3].reason == "interrupted before its turn"


def test_a_mistake_in_a_kernels_plan_is_that_rows_failure() -> None:
    rows = list(run_jobs(JOBS, FakeDevice(ZeroDivisionError("x")), RunOptions()))
    assert rows[2].status is Status.FAILED
    assert rows[2].reason is not None
    assert "ZeroDivisionError" in rows[2].reason


def test_jobs_are_sizes_then_variants_of_the_ladder() -> None:
    jobs = plan_jobs(select(("softmax",)), size_sets=tuple(SizeSet))
    assert len(jobs) == 3 * 7
    assert [str(job.size) for job in jobs[::7]] == [
        "rows=128,cols=4096",
        "rows=16384,cols=4096",
        "rows=8192,cols=32768",
    ]
    assert [job.kernel.variant for job in jobs[:2]] == ["unfused", "thread_per_row"]
    assert {job.dtype for job in jobs} == {DType.FLOAT32}


def test_given_sizes_take_the_place_of_the_sets() -> None:
    jobs = plan_jobs(
        select(("softmax.naive",)),
        size_sets=(SizeSet.SEED,),
        sizes=[{"cols": 7, "rows": 2}, {"rows": 1, "cols": 1}],
    )
    assert [job.size for job in jobs] == [
        SoftmaxSize(rows=2, cols=7),
        SoftmaxSize(rows=1, cols=1),
    ]


@pytest.mark.parametrize("size", [{"rows": 2}, {"rows": 2, "columns": 3}, {}])
def test_a_size_that_fits_no_family_names_the_fields(size: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="softmax: rows, cols"):
        plan_jobs(select(("softmax",)), size_sets=(SizeSet.SEED,), sizes=[size])


def test_a_given_size_that_does_not_fit_is_refused_before_anything_runs() -> None:
    device = FakeDevice()
    big = tuple(
        dataclasses.replace(job, size=SoftmaxSize(rows=1 << 20, cols=1 << 20)) for job in JOBS
    )
    with pytest.raises(DoesNotFitError, match=str(2 * 4 * 2**40 + 2 * 4 * 2**20)):
        check_explicit_sizes(big, device)
    check_explicit_sizes(JOBS, device)
    assert device.ran == []


def test_progress_is_told_before_each_job_and_at_the_end() -> None:
    told: list[tuple[int, int]] = []
    list(
        run_jobs(
            JOBS,
            FakeDevice(),
            RunOptions(),
            progress=lambda done, all_, _: told.append((done, all_)),
        )
    )
    assert told == [(done, 7) for done in range(8)]


def test_a_run_says_where_it_comes_from() -> None:
    device = FakeDevice()
    rows = list(run_jobs(JOBS, device, RunOptions()))
    run = make_run(device, rows, provenance(device, arguments=["run"], headers=None))
    assert run.device_kind == "model"
    assert run.provenance.nvrtc_version == "13.0"
    assert run.provenance.driver_version is None
    assert run.provenance.created_utc.endswith("+00:00")
    assert len(run.measurements) == 7
