"""Which architecture code is compiled for, and what to compile when NVRTC does not know the card's.

Source of the compatibility rules: CUDA C++ Programming Guide, "Binary Compatibility" (a cubin runs
on its own compute capability and on later minor ones of the same major) and "PTX Compatibility"
(PTX runs on any later compute capability; code for an "a" feature set runs on that one alone).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rooflens.errors import NotAvailableError, NotSupportedError, UsageError
from rooflens.profiler.compile.nvrtc import INSTALL_HINT


class CodeKind(StrEnum):
    """What NVRTC made: machine code for one architecture, or PTX that the driver compiles."""

    CUBIN = "cubin"
    PTX = "ptx"


@dataclass(frozen=True, slots=True)
class Architecture:
    """A compute capability, with "a" where architecture-specific instructions are asked for."""

    major: int
    minor: int
    feature: str = ""

    def __post_init__(self) -> None:
        if not (1 <= self.major <= 99 and 0 <= self.minor <= 9):
            raise UsageError(f"no compute capability {self.major}.{self.minor}; expected e.g. 8.9")
        if self.feature not in ("", "a"):
            raise UsageError(f"an architecture's feature is '' or 'a', got {self.feature!r}")

    @classmethod
    def parse(cls, value: "str | tuple[int, ...]") -> "Architecture":
        """Read "sm_89", "sm_90a", "compute_90", "8.9" or (8, 9); UsageError for anything else."""
        if isinstance(value, tuple):
            if len(value) != 2 or any(type(part) is not int for part in value):
                raise UsageError(f"a compute capability is (major, minor), got {value!r}")
            return cls(value[0], value[1])
        found = re.fullmatch(r"(?:(?:sm_|compute_)([0-9]{1,2})|([0-9]{1,2})\.)([0-9])(a?)", value)
        if found is None:
            raise UsageError(f"no architecture {value!r}; expected e.g. sm_89, sm_90a or 8.9")
        return cls(int(found[1] or found[2]), int(found[3]), found[4])

    @property
    def number(self) -> int:
        """10 * major + minor, as NVRTC counts architectures: 89."""
        return 10 * self.major + self.minor

    @property
    def sm(self) -> str:
        """The real architecture, as in sm_90a."""
        return f"sm_{self.number}{self.feature}"

    @property
    def compute(self) -> str:
        """The virtual architecture, as in compute_90a."""
        return f"compute_{self.number}{self.feature}"

    def __str__(self) -> str:
        return self.sm


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What NVRTC is told to compile for. note says why, where it is not what was requested."""

    requested: Architecture
    architecture: Architecture
    kind: CodeKind
    note: str | None = None

    @property
    def name(self) -> str:
        """The value of --gpu-architecture: sm_89, or compute_90 for PTX."""
        return self.architecture.sm if self.kind is CodeKind.CUBIN else self.architecture.compute


def choose_target(requested: Architecture, supported: Iterable[int]) -> Target:
    """The target for a card, given the architectures (75, 80, ...) that NVRTC knows.

    Exact where NVRTC knows it; else the largest known below it: a cubin within the same major
    version, PTX across majors. NotSupportedError for an "a" feature that NVRTC or the card has
    not; NotAvailableError for a card older than all that NVRTC knows.
    """
    known = sorted(set(supported))
    if not known:
        raise NotAvailableError("NVRTC names no architecture that it supports", INSTALL_HINT)
    if requested.feature:
        # Architecture-specific feature sets exist from compute capability 9.0 on, each for its
        # own architecture alone, so there is nothing to fall back to.
        if requested.major < 9 or requested.number not in known:
            raise NotSupportedError(
                f"this kernel needs {requested.sm}, which does not exist or which this NVRTC "
                f"does not know (it knows {_listed(known)})"
            )
        return Target(requested=requested, architecture=requested, kind=CodeKind.CUBIN)
    if requested.number in known:
        return Target(requested=requested, architecture=requested, kind=CodeKind.CUBIN)
    below = [number for number in known if number < requested.number]
    if not below:
        raise NotAvailableError(
            f"this NVRTC cannot compile for {requested.sm}: the oldest it knows is sm_{known[0]}",
            "install an NVRTC of CUDA 12, which knows older cards: pip install 'rooflens[cuda12]'",
        )
    nearest = Architecture(below[-1] // 10, below[-1] % 10)
    if nearest.major == requested.major:
        note = (
            f"compiled for {nearest.sm}, because this NVRTC does not know {requested.sm}; "
            f"code for an earlier minor version of the same major runs on it"
        )
        return Target(requested=requested, architecture=nearest, kind=CodeKind.CUBIN, note=note)
    note = (
        f"compiled to PTX for {nearest.compute}, because this NVRTC does not know {requested.sm}; "
        f"the driver makes the machine code, so registers and spills are not known here"
    )
    return Target(requested=requested, architecture=nearest, kind=CodeKind.PTX, note=note)


def _listed(numbers: list[int]) -> str:
    return ", ".join(f"sm_{number}" for number in numbers)
