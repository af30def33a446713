"""What works on this machine and what does not, and the one thing to do about each.

`machine` gathers the facts; `installed` and `surroundings` judge them, as pure functions.
"""

from collections.abc import Callable
from pathlib import Path

from rooflens.profiler.doctor import installed, surroundings
from rooflens.profiler.doctor.check import Check, State
from rooflens.profiler.doctor.machine import Machine, Problem, look

__all__ = ["Check", "Machine", "Problem", "State", "can_run", "diagnose", "examine"]

CHECKS: tuple[Callable[[Machine], Check], ...] = (
    installed.check_python,
    installed.check_bindings,
    installed.check_core,
    installed.check_nvrtc,
    installed.check_headers,
    installed.check_trial,
    installed.check_driver,
    installed.check_driver_against_wheels,
    surroundings.check_cards,
    surroundings.check_mig,
    surroundings.check_counters,
    installed.check_ncu,
    surroundings.check_wsl,
    surroundings.check_sandbox,
    surroundings.check_cache_folder,
    surroundings.check_run_folder,
)


def examine(run_folder: Path) -> tuple[Check, ...]:
    """Every check on this machine, in reading order; `run_folder` is where runs are written.

    Never raises: a library that cannot be loaded is a finding.
    """
    return diagnose(look(run_folder))


def diagnose(machine: Machine) -> tuple[Check, ...]:
    """Every check, on facts already gathered."""
    return tuple(check(machine) for check in CHECKS)


def can_run(checks: tuple[Check, ...]) -> bool:
    """Whether the main job runs: nothing that is necessary is missing."""
    return not any(check.necessary and check.state is State.MISSING for check in checks)
