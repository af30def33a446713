"""Hot and cold times beside the kernel's own start-to-end time as CUPTI records it.

Needs a card and PyTorch, whose profiler records every launch of the process, also those made
through the driver. Since a profiler changes what launches cost, each kernel is timed twice: with
the profiler on, where both clocks see the same launches and the constants are measured under it
too (with the empty kernel's time as CUPTI records it there), and alone, as a user times it. The
promise, for both: our median within 0.15 us or 1 % of CUPTI's, whichever is larger, where CUPTI's
is its mean for hot times, since a sample of ours is the mean over a graph, and its median for cold
ones. Run
    python benchmarks/timing_truth.py [--out FILE]
Exit code 1 if a row misses the promise.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from rooflens.analysis.statistics import median
from rooflens.kernels.registry import catalogue
from rooflens.kernels.softmax import SoftmaxSize
from rooflens.measurement import TimeSamples
from rooflens.precision import DType
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.timing import TimingPolicy, Work, time_cold, time_hot
from rooflens.run import Calibration

PROMISE_S, PROMISE_FRACTION = 0.15e-6, 0.01
POLICY = TimingPolicy(min_samples=60, budget_s=0.5)
STATES = ("hot", "cold")
SUBJECTS = [
    ("softmax.cached", 1, 32),
    ("softmax.naive", 1, 32),
    ("softmax.cached", 16, 1024),
    ("softmax.cached", 128, 4096),
    ("softmax.naive", 128, 4096),
    ("softmax.warp_per_row", 128, 4096),
    ("softmax.warp_reduce", 1024, 4096),
    ("softmax.cached", 4096, 4096),
    ("softmax.online", 4096, 4096),
    ("softmax.cached", 16384, 4096),
    ("softmax.cached", 8192, 32768),
    ("softmax.warp_reduce", 8192, 32768),
]


@contextmanager
def witness() -> Iterator[Callable[[str], list[float]]]:
    """Records launches inside the block; the result gives an entry's durations in s after it."""
    # PyTorch detaches CUPTI after each recording, which can crash a process that holds CUDA graphs.
    os.environ.setdefault("TEARDOWN_CUPTI", "0")
    os.environ.setdefault("DISABLE_CUPTI_LAZY_REINIT", "1")
    from torch.profiler import ProfilerActivity, profile

    durations: dict[str, list[float]] = {}
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as recorder:
        yield lambda entry: durations.get(entry, [])
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        recorder.export_chrome_trace(str(trace))
        events: list[dict[str, Any]] = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    for event in events:
        if event.get("cat") == "kernel":
            durations.setdefault(event["name"].split("(")[0], []).append(event["dur"] * 1e-6)


def take(device: CudaDevice, work: Work, calibration: Calibration, state: str) -> TimeSamples:
    """Our samples of one kernel in one cache state."""
    timed = time_hot if state == "hot" else time_cold
    return timed(device.queue, work, calibration, POLICY)


def compare(device: CudaDevice, name: str, rows: int, cols: int) -> dict[str, Any]:
    """One row of the comparison: our medians alone and witnessed, CUPTI's, and the verdicts."""
    kernel, size = catalogue()[name], SoftmaxSize(rows=rows, cols=cols)
    inputs = kernel.family.make_inputs(size, DType.FLOAT32, np.random.default_rng(0))
    prepared = device.prepare(kernel, size, DType.FLOAT32)
    row: dict[str, Any] = {"kernel": name, "size": f"{rows}x{cols}", "kept": True}
    with device.execute(prepared) as execution:
        execution.run_checked(inputs)
        work, entry = execution.work(), prepared.plan.launches[0].entry
        alone = device.calibrate(empty_s=device.calibration.empty_graph_s)
        with witness() as recorded:
            device.calibrate()
        with witness():
            witnessed = device.calibrate(empty_s=median(recorded("empty_kernel")))
        for state in STATES:
            alone_s = median(take(device, work, alone, state).samples_s)
            with witness() as recorded:
                witnessed_s = median(take(device, work, witnessed, state).samples_s)
            records = recorded(entry)
            # A hot sample is the mean over a graph, a cold one is a launch of its own.
            truth_s = fmean(records) if state == "hot" else median(records)
            allowed_s = max(PROMISE_S, PROMISE_FRACTION * truth_s)
            row[f"{state}_cupti_us"] = truth_s * 1e6
            row[f"{state}_witnessed_us"] = witnessed_s * 1e6
            row[f"{state}_alone_us"] = alone_s * 1e6
            for way, ours_s in (("witnessed", witnessed_s), ("alone", alone_s)):
                row[f"{state}_{way}_kept"] = abs(ours_s - truth_s) <= allowed_s
                row["kept"] = row["kept"] and row[f"{state}_{way}_kept"]
    return row


def print_rows(rows: list[dict[str, Any]]) -> None:
    """All times in us; a * marks what misses the promise."""
    heads = [f"{state} {column}" for state in STATES for column in ("CUPTI", "witnessed", "alone")]
    print(f"{'kernel':22}{'size':>12}" + "".join(f"{head:>16}" for head in heads))
    for row in rows:
        cells = ""
        for state in STATES:
            cells += f"{row[f'{state}_cupti_us']:>16.3f}"
            for way in ("witnessed", "alone"):
                star = " " if row[f"{state}_{way}_kept"] else "*"
                cells += f"{row[f'{state}_{way}_us']:>15.3f}{star}"
        print(f"{row['kernel']:22}{row['size']:>12}{cells}")


def main() -> int:
    """Prints the table; writes it as JSON where asked."""
    parser = argparse.ArgumentParser(description="our times beside CUPTI's")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    device = CudaDevice(0, cache=CompileCache.default())
    print(device.hardware.name, device.calibration)
    rows = [compare(device, *subject) for subject in SUBJECTS]
    print_rows(rows)
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["kept"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
