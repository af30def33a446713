"""What the doctor needs to know of this machine, gathered without ever raising."""

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rooflens.errors import NotAvailableError, RooflensError
from rooflens.profiler.compile import (
    Architecture,
    CompileCache,
    Headers,
    compile_source,
    find_headers,
    nvrtc_version,
)

T = TypeVar("T")

TRIAL_SOURCE = 'extern "C" __global__ void trial(float* y) { y[threadIdx.x] = 1.0f; }\n'
TRIAL_ARCHITECTURE = Architecture(
    8, 0
)  # the oldest of the catalogue, known to every NVRTC of CUDA 12 and 13
NO_DRIVER = "install NVIDIA's driver; without one, kernels are compiled and modelled, not timed"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a fact could not be had, in one line, and what would help."""

    text: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Facts, each one either its value or the problem that was met on the way to it.

    Versions are (major, minor). nvrtc_cuda is the CUDA version of the NVRTC found, driver_cuda the
    newest CUDA version that the driver supports, driver_release its own number ("580.95.05").
    kernel is the text of /proc/version, boot that of /proc/cmdline, profiling_parameters that of
    the NVIDIA module's params, capabilities the effective set of /proc/self/status; None where
    there is no such file. cards are their names; trial is what a small compile came to.
    """

    python: tuple[int, int, int]
    bindings: str | Problem
    core: str | Problem
    nvrtc_cuda: tuple[int, int] | Problem
    headers: Headers | Problem | None
    trial: str | Problem
    driver_cuda: tuple[int, int] | Problem
    driver_release: str | None
    cards: tuple[str, ...] | Problem
    visible_devices: str | None
    kernel: str | None
    boot: str | None
    container: str | None
    profiling_parameters: str | None
    capabilities: int | None
    ncu: str | None
    cache_folder: Path | Problem
    run_folder: Path | Problem

    @property
    def card_names(self) -> tuple[str, ...]:
        """The cards that are there; none where they could not be asked for."""
        return () if isinstance(self.cards, Problem) else self.cards


def look(run_folder: Path) -> Machine:
    """The facts of this machine now; `run_folder` is where runs would be written."""
    return Machine(
        python=sys.version_info[:3],
        bindings=attempt(_bindings),
        core=attempt(_core),
        nvrtc_cuda=attempt(nvrtc_version),
        headers=attempt(find_headers),
        trial=attempt(_trial),
        driver_cuda=attempt(_driver_cuda),
        driver_release=driver_release(_read("/proc/driver/nvidia/version")),
        cards=attempt(_cards),
        visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"),
        kernel=_read("/proc/version") or platform.version(),
        boot=_read("/proc/cmdline"),
        container=_container(),
        profiling_parameters=_read("/proc/driver/nvidia/params"),
        capabilities=effective_capabilities(_read("/proc/self/status")),
        ncu=shutil.which("ncu"),
        cache_folder=writable(CompileCache.default().folder),
        run_folder=writable(run_folder),
    )


def attempt(question: Callable[[], T]) -> T | Problem:
    """The answer, or the problem: whatever a broken installation throws is what is reported."""
    try:
        return question()
    except RooflensError as error:
        return Problem(_one_line(str(error)), error.hint)
    except Exception as error:  # noqa: BLE001 - libraries of a broken machine raise anything
        return Problem(_one_line(f"{type(error).__name__}: {error}"))


def driver_release(text: str | None) -> str | None:
    """The driver's number in the text of /proc/driver/nvidia/version."""
    found = re.search(r"\b\d{3,}\.\d+(?:\.\d+)?\b", text or "")
    return found.group() if found else None


def effective_capabilities(status: str | None) -> int | None:
    """The CapEff mask in the text of /proc/self/status."""
    found = re.search(r"^CapEff:\s*([0-9a-fA-F]+)$", status or "", re.MULTILINE)
    return int(found.group(1), 16) if found else None


def writable(folder: Path) -> Path | Problem:
    """`folder` if files can be made in it, or in the nearest folder above it that exists.

    Tried with a file that is gone at once; nothing is created on the way.
    """
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return folder
    except OSError as error:
        return Problem(f"{folder}: cannot write in {place}: {error.strerror or error}")


def _bindings() -> str:
    from rooflens.profiler.cuda.gate import driver_module

    driver_module()
    return _distribution_version("cuda-bindings")


def _core() -> str:
    from rooflens.profiler.cuda.gate import core_module

    core_module()
    return _distribution_version("cuda-core")


def _distribution_version(name: str) -> str:
    from importlib.metadata import version

    return version(name)


def _trial() -> str:
    with tempfile.TemporaryDirectory(prefix="rooflens-") as folder:
        source = Path(folder, "trial.cu")
        source.write_text(TRIAL_SOURCE, encoding="utf-8")
        code = compile_source(source, architecture=TRIAL_ARCHITECTURE, cache=None)
    return f"a small kernel compiles to {len(code.code)} bytes of {code.target}"


def _driver_cuda() -> tuple[int, int]:
    from rooflens.profiler.cuda.gate import checked, driver_module

    try:
        answer = driver_module().cuDriverGetVersion()
    except RuntimeError as error:  # what the bindings raise where there is no libcuda
        raise NotAvailableError(
            "libcuda, the driver's library, cannot be loaded", NO_DRIVER
        ) from error
    version = int(checked(answer, "cuDriverGetVersion"))
    return version // 1000, version % 1000 // 10


def _cards() -> tuple[str, ...]:
    from rooflens.profiler.cuda.enumerate import list_devices

    return tuple(card.name for card in list_devices())


def _container() -> str | None:
    marks = {"Docker": "/.dockerenv", "Podman": "/run/.containerenv"}
    return next((name for name, mark in marks.items() if Path(mark).exists()), None)


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _one_line(text: str) -> str:
    return " ".join(text.split())
