"""Hot and calibrated cold times beside the kernel's own start-to-end time as CUPTI records it.

Needs a card and PyTorch, whose profiler records every launch of the process, also those made
through the driver. The promise: medians agree within 0.15 us or 1 %, whichever is larger. Run
    python benchmarks/timing_truth.py [--out FILE]
Exit code 1 if a row misses the promise.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rooflens.analysis.statistics import median
from rooflens.kernels.registry import catalogue
from rooflens.kernels.softmax import SoftmaxSize
from rooflens.precision import DType
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.timing import TimingPolicy, Work, time_cold, time_hot

PROMISE_S, PROMISE_FRACTION = 0.15e-6, 0.01
WITNESSED = 60
SUBJECTS = [
    ("softmax.cached", 1, 32),
    ("softmax.cached", 16, 1024),
    ("softmax.cached", 128, 4096),
    ("softmax.naive", 128, 4096),
    ("softmax.warp_reduce", 1024, 4096),
    ("softmax.cached", 4096, 4096),
    ("softmax.online", 4096, 4096),
    ("softmax.cached", 16384, 4096),
    ("softmax.cached", 8192, 32768),
    ("softmax.naive", 8192, 32768),
]


def witness(action: Callable[[], None], entry: str) -> list[float]:
    """Durations in seconds that CUPTI records for launches of `entry` during `action`."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as recorder:
        action()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        recorder.export_chrome_trace(str(trace))
        events: list[dict[str, Any]] = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    found = [
        float(event["dur"]) * 1e-6
        for event in events
        if event.get("cat") == "kernel" and event["name"].split("(")[0] == entry
    ]
    if not found:
        raise SystemExit(f"the profiler recorded no launch of {entry}")
    return found


def witness_hot(device: CudaDevice, work: Work, entry: str) -> float:
    """Median of launches that follow each other without a pause."""

    def action() -> None:
        device.queue.hold(2e-3)
        for _ in range(WITNESSED):
            work.enqueue(0)
        device.queue.finish()

    return median(witness(action, entry)[5:])


def witness_cold(device: CudaDevice, work: Work, entry: str) -> float:
    """Median of launches that each follow an eviction, enqueued as time_cold does."""

    def action() -> None:
        device.queue.hold(2e-3)
        for _ in range(WITNESSED):
            device.queue.evict()
            device.queue.mark()
            work.enqueue(0)
            device.queue.mark()
        device.queue.finish()

    return median(witness(action, entry)[5:])


def compare(device: CudaDevice, name: str, rows: int, cols: int) -> dict[str, Any]:
    """One row of the comparison: our medians, the witness's, and whether they keep the promise."""
    kernel, size = catalogue()[name], SoftmaxSize(rows=rows, cols=cols)
    inputs = kernel.family.make_inputs(size, DType.FLOAT32, np.random.default_rng(0))
    prepared = device.prepare(kernel, size, DType.FLOAT32)
    with device.execute(prepared) as execution:
        execution.run_checked(inputs)
        work, entry = execution.work(), prepared.plan.launches[0].entry
        policy = TimingPolicy()
        ours = {
            "hot": median(time_hot(device.queue, work, policy).samples_s),
            "cold": median(time_cold(device.queue, work, device.calibration, policy).samples_s),
        }
        truth = {
            "hot": witness_hot(device, work, entry),
            "cold": witness_cold(device, work, entry),
        }
    row: dict[str, Any] = {"kernel": name, "size": f"{rows}x{cols}"}
    for state, true_s in truth.items():
        allowed = max(PROMISE_S, PROMISE_FRACTION * true_s)
        row[f"{state}_us"] = ours[state] * 1e6
        row[f"{state}_cupti_us"] = true_s * 1e6
        row[f"{state}_off_us"] = (ours[state] - true_s) * 1e6
        row[f"{state}_kept"] = abs(ours[state] - true_s) <= allowed
    return row


def main() -> int:
    """Prints the table; writes it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    device = CudaDevice(0, cache=CompileCache.default())
    calibration = device.calibration
    print(f"{device.hardware.name}: event constant {calibration.event_constant_s * 1e6:.3f} us")
    rows = [compare(device, *subject) for subject in SUBJECTS]
    print(
        f"{'kernel':22}{'size':>13}"
        + "".join(f"{h:>10}" for h in ("hot", "CUPTI", "off", "cold", "CUPTI", "off"))
    )
    for row in rows:
        cells = "".join(
            f"{row[f'{state}{part}']:>10.3f}"
            for state in ("hot", "cold")
            for part in ("_us", "_cupti_us", "_off_us")
        )
        kept = "" if row["hot_kept"] and row["cold_kept"] else "   misses the promise"
        print(f"{row['kernel']:22}{row['size']:>13}{cells}{kept}")
    if arguments.out:
        document = {"event_constant_us": calibration.event_constant_s * 1e6, "rows": rows}
        arguments.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["hot_kept"] and row["cold_kept"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
