"""`rooflens run`: the main job, from names and sizes to a stored run and its table."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rooflens.cli.console import progress_bar, remark, stdout_console
from rooflens.cli.open_device import open_device
from rooflens.cli.options import (
    INTERRUPTED_CODE,
    parse_cache_states,
    parse_dtype,
    parse_size,
    parse_size_sets,
)
from rooflens.errors import UsageError
from rooflens.kernels.registry import select
from rooflens.measurement import Measurement
from rooflens.profiler.compile import CompileCache, find_headers
from rooflens.profiler.device import Device, RunOptions
from rooflens.profiler.session import (
    INTERRUPTED,
    Job,
    check_explicit_sizes,
    make_run,
    plan_jobs,
    provenance,
    run_jobs,
)
from rooflens.report.document import document
from rooflens.run import Run
from rooflens.store import default_runs_folder, write_run
from rooflens.store.check import check_writable
from rooflens.terms import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The command's arguments as the user gave them."""

    names: tuple[str, ...]
    size_set: str
    sizes: tuple[str, ...]
    dtypes: tuple[str, ...]
    device: str
    target: str | None
    cache: str
    out: str | None
    as_json: bool
    launches: bool = False


def run_catalogue(request: RunRequest) -> int:
    """Runs what is asked for; the exit code is 130 if interrupted, 2 if every row was skipped,
    1 if a kernel failed, else 0.

    Everything that can be refused is refused before the first kernel runs.
    """
    options = RunOptions(cache_states=parse_cache_states(request.cache))
    jobs = plan_jobs(
        select(request.names),
        size_sets=parse_size_sets(request.size_set),
        sizes=[parse_size(text) for text in request.sizes],
        dtypes=[parse_dtype(text) for text in request.dtypes],
    )
    if request.out == "":
        raise UsageError("--out names no folder; leave it out to store the run in the usual place")
    if request.sizes and request.size_set != "seed":
        raise UsageError("--size and --set both choose sizes; give one of them")
    parent = Path(request.out) if request.out is not None else default_runs_folder()
    check_writable(parent)
    device = open_device(request.device, request.target, CompileCache.default())
    try:
        if request.sizes:
            check_explicit_sizes(jobs, device)
        run = _execute(jobs, device, options)
    finally:
        device.close()
    contents = document(run)
    folder = write_run(run, parent, document=contents)
    _print(run, contents, folder, request)
    return _exit_code(run.measurements)


def _execute(jobs: tuple[Job, ...], device: Device, options: RunOptions) -> Run:
    with progress_bar() as progress:
        measurements = list(run_jobs(jobs, device, options, progress=progress))
    headers = find_headers()
    source = provenance(
        device,
        arguments=sys.argv[1:],
        headers=headers.describe() if headers else None,
    )
    return make_run(device, measurements, source)


def _print(run: Run, contents: Mapping[str, object], folder: Path, request: RunRequest) -> None:
    if request.as_json:
        json.dump(contents, sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
        remark(f"run written to {folder}")
        return
    from rooflens.report.table import print_run

    console = stdout_console()
    print_run(run, console)
    if request.launches:
        from rooflens.report.launches import print_launches

        console.print()
        print_launches(run, console)
    console.print(f"run written to {folder}", markup=False, soft_wrap=True)


def _exit_code(measurements: tuple[Measurement, ...]) -> int:
    if any(one.status is Status.SKIPPED and one.reason == INTERRUPTED for one in measurements):
        remark("interrupted; what was done before is kept")
        return INTERRUPTED_CODE
    if all(one.status is Status.SKIPPED for one in measurements):
        remark("nothing ran: every row was skipped, for the reasons above")
        return UsageError.exit_code
    return 1 if any(one.status is Status.FAILED for one in measurements) else 0
