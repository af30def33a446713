"""Checks of what is installed: Python, the CUDA wheels, the driver, and whether they agree."""

from collections.abc import Callable
from typing import TypeVar

from rooflens.profiler.doctor.check import INSTALL, Check, State
from rooflens.profiler.doctor.machine import Machine, Problem

T = TypeVar("T")

OLDEST_PYTHON = (3, 11)


def check_python(machine: Machine) -> Check:
    text = ".".join(map(str, machine.python))
    if machine.python[:2] >= OLDEST_PYTHON:
        return Check(name="Python", state=State.OK, finding=text, necessary=True)
    return Check(
        name="Python",
        state=State.MISSING,
        finding=f"{text}; rooflens needs 3.11 or newer",
        remedy="make a virtual environment with a newer Python",
        necessary=True,
    )


def check_bindings(machine: Machine) -> Check:
    return _needed("cuda-bindings", machine.bindings, "{}".format)


def check_core(machine: Machine) -> Check:
    """Launching needs it, compiling does not."""
    with_card = bool(machine.card_names)
    return _needed("cuda-core", machine.core, "{}".format, necessary=with_card)


def check_nvrtc(machine: Machine) -> Check:
    return _needed("NVRTC", machine.nvrtc_cuda, lambda version: f"CUDA {_dotted(version)}")


def check_headers(machine: Machine) -> Check:
    """The catalogue's own kernels include none of CUDA's headers; others may."""
    name, found = "CUDA headers", machine.headers
    if isinstance(found, Problem):
        return Check(name=name, state=State.WARNING, finding=found.text, remedy=found.remedy)
    if found is None:
        return Check(
            name=name,
            state=State.WARNING,
            finding="none found; kernels that include CUDA's headers will not compile",
            remedy=INSTALL,
        )
    if found.note:
        finding = f"{found.describe()}; {found.note}"
        return Check(name=name, state=State.WARNING, finding=finding, remedy=INSTALL)
    return Check(name=name, state=State.OK, finding=found.describe())


def check_trial(machine: Machine) -> Check:
    return _needed("trial compile", machine.trial, "{}".format)


def check_driver(machine: Machine) -> Check:
    name = "NVIDIA driver"
    if isinstance(machine.driver_cuda, Problem):
        problem = machine.driver_cuda
        return Check(
            name=name,
            state=State.MISSING,
            finding=problem.text,
            remedy=problem.remedy or "reinstall NVIDIA's driver",
        )
    release = f"{machine.driver_release}, " if machine.driver_release else ""
    finding = f"{release}supports CUDA {_dotted(machine.driver_cuda)}"
    return Check(name=name, state=State.OK, finding=finding)


def check_driver_against_wheels(machine: Machine) -> Check:
    """A cubin made by a newer CUDA major than the driver's is refused by the driver."""
    name = "driver and NVRTC"
    driver, nvrtc = machine.driver_cuda, machine.nvrtc_cuda
    if isinstance(driver, Problem) or isinstance(nvrtc, Problem):
        absent = "driver" if isinstance(driver, Problem) else "NVRTC"
        return Check(name=name, state=State.UNKNOWN, finding=f"no {absent} to compare")
    pair = f"driver CUDA {_dotted(driver)}, NVRTC CUDA {_dotted(nvrtc)}"
    if driver[0] < nvrtc[0]:
        return Check(
            name=name,
            state=State.MISSING,
            finding=f"{pair}: the driver does not load code of a newer CUDA major",
            remedy=f"in a new environment, pip install 'rooflens[cuda{driver[0]}]'",
            necessary=True,
        )
    bindings = machine.bindings
    if isinstance(bindings, str) and bindings.partition(".")[0] != str(nvrtc[0]):
        return Check(
            name=name,
            state=State.WARNING,
            finding=f"{pair}, but cuda-bindings {bindings} is of another CUDA major",
            remedy=f"pip install 'rooflens[cuda{nvrtc[0]}]'",
        )
    return Check(name=name, state=State.OK, finding=pair)


def check_ncu(machine: Machine) -> Check:
    if machine.ncu:
        return Check(name="Nsight Compute", state=State.OK, finding=machine.ncu)
    return Check(
        name="Nsight Compute",
        state=State.WARNING,
        finding="ncu is not on PATH; times and models do without it",
        remedy="install Nsight Compute, or import reports made elsewhere",
    )


def _needed(
    name: str, found: T | Problem, describe: Callable[[T], str], *, necessary: bool = True
) -> Check:
    """A check of something that is either there or missing."""
    if isinstance(found, Problem):
        return Check(
            name=name,
            state=State.MISSING,
            finding=found.text,
            remedy=found.remedy or INSTALL,
            necessary=necessary,
        )
    return Check(name=name, state=State.OK, finding=describe(found), necessary=necessary)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
