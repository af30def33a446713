"""Checks of where this process runs: GPUs, permissions, virtual machines, sandboxes, folders."""

from pathlib import Path

from rooflens.profiler.compile.cache import CACHE_FOLDER_VARIABLE
from rooflens.profiler.doctor.check import Check, State
from rooflens.profiler.doctor.machine import Machine, Problem

CAP_SYS_ADMIN = 1 << 21  # capability 21 of linux/capability.h
PERMISSION_PAGE = "https://developer.nvidia.com/ERR_NVGPUCTRPERM"
COUNTERS = "counters' permission"
NO_CARD = "rooflens run --device none models the kernels; to time them, use a machine with a GPU"


def check_cards(machine: Machine) -> Check:
    name = "GPU"
    if isinstance(machine.cards, Problem):
        if isinstance(machine.driver_cuda, Problem):
            finding, remedy = "none can be seen without a driver", None
        else:
            finding, remedy = machine.cards.text, machine.cards.remedy
        return Check(name=name, state=State.MISSING, finding=finding, remedy=remedy or NO_CARD)
    if machine.cards:
        count = f"{len(machine.cards)} x " if len(set(machine.cards)) == 1 else ""
        names = dict.fromkeys(machine.cards)
        return Check(name=name, state=State.OK, finding=f"{count}{', '.join(names)}")
    if machine.visible_devices is not None:
        return Check(
            name=name,
            state=State.MISSING,
            finding=f"the driver shows none; CUDA_VISIBLE_DEVICES is {machine.visible_devices!r}",
            remedy="unset CUDA_VISIBLE_DEVICES, or name a device that exists",
        )
    if machine.container:
        remedy = "start the container with its GPUs (docker run --gpus all)"
    else:
        remedy = NO_CARD
    return Check(name=name, state=State.MISSING, finding="the driver shows none", remedy=remedy)


def check_mig(machine: Machine) -> Check:
    """The driver names an instance "<card> MIG <slices>g.<memory>gb"."""
    slices = [card for card in machine.card_names if " MIG " in card]
    if slices:
        return Check(
            name="MIG",
            state=State.WARNING,
            finding=f"{slices[0]} is a slice; a card's nominal peaks are those of the whole",
            remedy="measure on a GPU with MIG off, or read fractions of peak as the slice's share",
        )
    if not machine.card_names:
        return Check(name="MIG", state=State.UNKNOWN, finding="no GPU to ask")
    return Check(name="MIG", state=State.OK, finding="whole GPUs, no slices")


def check_counters(machine: Machine) -> Check:
    """Hardware counters, which Nsight Compute reads; the program's own times need none."""
    name = COUNTERS
    if _in_gvisor(machine):
        return Check(
            name=name,
            state=State.WARNING,
            finding="gVisor does not pass the counters' interface on",
            remedy="run ncu outside the sandbox and import its report",
        )
    if _in_wsl(machine):
        return Check(
            name=name,
            state=State.UNKNOWN,
            finding="WSL2: Windows decides, and does not tell from here",
            remedy="on Windows, NVIDIA Control Panel, Developer, Manage GPU Performance Counters:"
            " allow all users",
        )
    return _counters_by_module(machine)


def check_wsl(machine: Machine) -> Check:
    if machine.kernel is None:
        return Check(name="WSL2", state=State.UNKNOWN, finding="the kernel does not name itself")
    if not _in_wsl(machine):
        return Check(name="WSL2", state=State.OK, finding="no")
    return Check(
        name="WSL2",
        state=State.WARNING,
        finding="Windows shares the GPU with its desktop and may delay launches",
        remedy="for steady times, measure under native Linux",
    )


def check_sandbox(machine: Machine) -> Check:
    name = "sandbox"
    if _in_gvisor(machine):
        return Check(
            name=name,
            state=State.WARNING,
            finding="gVisor: each driver call takes longer, and clocks may be hidden",
            remedy="for counters and clocks, run outside gVisor",
        )
    found = [machine.container] if machine.container else []
    if "firecracker" in f"{machine.boot} {machine.kernel}".lower():
        found.append("Firecracker")
    return Check(name=name, state=State.OK, finding=" in ".join(found) or "none seen")


def check_cache_folder(machine: Machine) -> Check:
    return _folder(
        "compile cache", machine.cache_folder, f"set {CACHE_FOLDER_VARIABLE} to a writable folder"
    )


def check_run_folder(machine: Machine) -> Check:
    return _folder("run folder", machine.run_folder, "name a writable folder with --out")


def _counters_by_module(machine: Machine) -> Check:
    """What the NVIDIA kernel module's parameters and this process's rights say of counters."""
    name = COUNTERS
    restricted = _admin_only(machine.profiling_parameters)
    page = f"see {PERMISSION_PAGE}"
    if restricted is None:
        finding = "the kernel module's parameters cannot be read"
        remedy = None if isinstance(machine.driver_cuda, Problem) else page
        return Check(name=name, state=State.UNKNOWN, finding=finding, remedy=remedy)
    if not restricted:
        return Check(name=name, state=State.OK, finding="open to all users")
    if machine.capabilities is None:
        finding = "for administrators only, and this process's rights cannot be read"
        return Check(name=name, state=State.UNKNOWN, finding=finding, remedy=page)
    if machine.capabilities & CAP_SYS_ADMIN:
        return Check(name=name, state=State.OK, finding="for administrators; this process is one")
    remedy = (
        "start the container with --cap-add=SYS_ADMIN"
        if machine.container
        else "run as root, or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0"
    )
    finding = "for administrators only, and this process is none"
    return Check(name=name, state=State.WARNING, finding=finding, remedy=remedy)


def _folder(name: str, found: Path | Problem, remedy: str) -> Check:
    if isinstance(found, Problem):
        return Check(name=name, state=State.WARNING, finding=found.text, remedy=remedy)
    return Check(name=name, state=State.OK, finding=f"{found} can be written")


def _in_wsl(machine: Machine) -> bool:
    """Microsoft's kernels carry its name in /proc/version."""
    return "microsoft" in (machine.kernel or "").lower()


def _in_gvisor(machine: Machine) -> bool:
    """gVisor names itself, or gives the fixed build date of the kernel that it imitates."""
    kernel = machine.kernel or ""
    return "gvisor" in kernel.lower() or "#1 SMP Sun Jan 10 15:06:54 PST 2016" in kernel


def _admin_only(parameters: str | None) -> bool | None:
    """RmProfilingAdminOnly of the nvidia module; None where it is not told."""
    for line in (parameters or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "RmProfilingAdminOnly" and value.strip() in ("0", "1"):
            return value.strip() == "1"
    return None
