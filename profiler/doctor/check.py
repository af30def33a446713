"""One finding of the doctor, and how sure it is."""

from dataclasses import dataclass
from enum import StrEnum

INSTALL = "pip install 'rooflens[cuda13]' (rooflens[cuda12] for drivers older than 580)"


class State(StrEnum):
    """How a check ended. UNKNOWN: it could not be told from here."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked at: what was found, and what to do about it where something is to be done.

    necessary: without it the main job does not run here.
    """

    name: str
    state: State
    finding: str
    remedy: str | None = None
    necessary: bool = False
