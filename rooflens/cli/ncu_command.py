"""`rooflens ncu-command`: the line to run where the program and ncu are."""

import shlex

from rooflens.analysis.ncu_command import ncu_command
from rooflens.errors import UsageError


def print_ncu_command(program: tuple[str, ...], report: str) -> int:
    """Prints one line for a shell, which a user can copy whole."""
    if not program:
        raise UsageError(
            "ncu-command needs the program to profile: rooflens ncu-command -- python train.py"
        )
    if not report:
        raise UsageError("--report names no file")
    print(f"LC_ALL=C {shlex.join(ncu_command(program, report=report))}")
    return 0
