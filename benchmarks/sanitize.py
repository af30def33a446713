"""Every kernel of the catalogue under each tool of compute-sanitizer, at a small awkward size.

Needs a card and compute-sanitizer. Buffers lie bare in memory, without guard zones or poison, so
that the tools see their edges and what nobody wrote. Before a tool's silence counts it must find a
planted fault of its kind. Run
    PYTHONPATH=. python benchmarks/sanitize.py [KERNEL ...]
Exit code 1 if a tool found something, or missed its planted fault.
"""

import argparse
import shutil
import subprocess
import sys
import time

import numpy as np

from rooflens.errors import NotSupportedError
from rooflens.kernels.registry import select
from rooflens.kernels.spec import AnyKernelSpec, Size
from rooflens.precision import DType
from rooflens.profiler.compile import CompileCache
from rooflens.profiler.cuda import CudaDevice
from tests.planted import planted

FAULTS = {
    "memcheck": "writes_outside",
    "racecheck": "shared_race",
    "initcheck": "adds_to_old_result",
    "synccheck": "divergent_barrier",
}
FOUND = 9  # what compute-sanitizer exits with when it found something
SMALL: dict[str, tuple[dict[str, int], ...]] = {
    "softmax": ({"rows": 3, "cols": 1023}, {"rows": 2, "cols": 1024}),
    "layernorm": ({"rows": 3, "cols": 1023}, {"rows": 2, "cols": 1024}),
    "rmsnorm": ({"rows": 3, "cols": 1023, "bias": 1}, {"rows": 2, "cols": 1024}),
    "rope": ({"seq": 3, "heads": 3, "dim": 66}, {"seq": 3, "heads": 2, "dim": 64}),
    "attention": (
        {"heads": 2, "kv_heads": 1, "seq": 131, "dim": 64, "causal": 1},
        {"heads": 1, "kv_heads": 1, "seq": 33, "dim": 127},
        {"heads": 1, "kv_heads": 1, "seq": 40, "dim": 256},
    ),
    "gemm": ({"m": 33, "n": 130, "k": 71}, {"m": 64, "n": 128, "k": 64}),
    "gemv": ({"m": 3, "k": 1023}, {"m": 5, "k": 1024}),
    "swiglu": ({"rows": 3, "cols": 1023}, {"rows": 2, "cols": 1024}),
    "kv_cache": (
        {
            "batch": 2,
            "heads": 4,
            "kv_heads": 2,
            "length": 17,
            "new_tokens": 3,
            "max_seq": 33,
            "dim": 66,
        },
    ),
    "layer": (
        {"seq": 67, "hidden": 65, "heads": 2, "kv_heads": 1, "dim": 66, "causal": 1},
        {"seq": 64, "hidden": 64, "heads": 2, "kv_heads": 2, "dim": 64},
    ),
}


def sizes_of(kernel: AnyKernelSpec) -> list[Size]:
    """The small sizes of the kernel's family."""
    return [kernel.family.size_type(**fields) for fields in SMALL[kernel.family.name]]


def launch(device: CudaDevice, kernel: AnyKernelSpec, size: Size, dtype: DType) -> None:
    """Runs the kernel once on bare buffers."""
    inputs = kernel.family.make_inputs(size, dtype, np.random.default_rng(0))
    try:
        prepared = device.prepare(kernel, size, dtype)
    except NotSupportedError as error:
        print(f"not run: {kernel.name} {size} {dtype}: {error}", flush=True)
        return
    with device.execute(prepared, guarded=False) as execution:
        execution.run_checked(inputs)
    print(f"ran: {kernel.name} {size} {dtype}", flush=True)


def launch_all(names: tuple[str, ...], fault: str | None) -> None:
    """What runs under a tool: the kernels of these names, or one planted fault."""
    device = CudaDevice(0, cache=CompileCache.default())
    kernels = (planted(fault),) if fault else select(names)
    for kernel in kernels:
        for size in sizes_of(kernel):
            for dtype in kernel.dtypes:
                launch(device, kernel, size, dtype)
    device.close()


def under(tool: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """This script's launches under a tool of compute-sanitizer."""
    program = shutil.which("compute-sanitizer")
    if program is None:
        sys.exit("compute-sanitizer is not on this machine's PATH; it comes with the CUDA toolkit")
    command = [program, "--tool", tool, "--error-exitcode", str(FOUND)]
    command += [sys.executable, __file__, "--launch", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(tool: str, names: list[str]) -> bool:
    """Whether the tool works here and finds nothing in the kernels; prints what it says."""
    start_s = time.monotonic()
    proof = under(tool, ["--fault", FAULTS[tool]])
    if proof.returncode != FOUND:
        print(f"{tool}: MISSED its planted fault {FAULTS[tool]} (exit code {proof.returncode})")
        print(proof.stdout[-4000:], proof.stderr[-2000:])
        return False
    done = under(tool, names)
    ran = sum(line.startswith("ran: ") for line in done.stdout.splitlines())
    for line in done.stdout.splitlines():
        if line.startswith("not run: "):
            print(line)
    verdict = "nothing found" if done.returncode == 0 else f"exit code {done.returncode}"
    print(f"{tool}: {ran} launches, {verdict}, {time.monotonic() - start_s:.0f} s", flush=True)
    if done.returncode != 0:
        print(done.stdout[-8000:], done.stderr[-2000:])
    return done.returncode == 0 and ran > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels or families; all of them by default")
    parser.add_argument("--tool", choices=FAULTS, help="one tool alone")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fault", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.launch:
        launch_all(tuple(asked.names), asked.fault)
        return
    tools = [asked.tool] if asked.tool else list(FAULTS)
    good = [check(tool, asked.names) for tool in tools]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
