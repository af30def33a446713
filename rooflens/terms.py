"""Closed sets of words that every room uses."""

from enum import StrEnum


class Basis(StrEnum):
    """Where a number comes from."""

    MEASURED = "measured"
    COUNTED = "counted"
    SIMULATED = "simulated"
    MODELLED = "modelled"
    IMPORTED = "imported"


class Status(StrEnum):
    """How the attempt to run one kernel at one size ended."""

    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"


class CacheState(StrEnum):
    """State of the L2 cache when a kernel starts.

    HOT: its data was touched by the launch before. COLD: other data was read since, so that
    neither its inputs nor dirty lines are there. REPORTED: as another tool left it, which its
    report does not say (Nsight Compute flushes the caches unless told not to).
    """

    HOT = "hot"
    COLD = "cold"
    REPORTED = "reported"


class Bound(StrEnum):
    """What a kernel's rate is set against.

    MEMORY and COMPUTE are the sides of the ridge. CACHE: it moves its data faster than DRAM can,
    which a working set smaller than L2 explains. SUSPECT: faster than DRAM with a working set that
    does not fit L2, or faster than the arithmetic peak; the number cannot be right as it stands.
    """

    MEMORY = "memory"
    COMPUTE = "compute"
    CACHE = "cache"
    SUSPECT = "suspect"


class CeilingBasis(StrEnum):
    """What a ceiling rests on."""

    NOMINAL = "nominal"
    CLOCK_SCALED = "clock_scaled"
    MEASURED = "measured"


class MemoryLevel(StrEnum):
    """A level of the memory hierarchy that can bound a kernel."""

    DRAM = "dram"
    L2 = "l2"
    L1 = "l1"
    SHARED = "shared"


class SizeSet(StrEnum):
    """Which of a family's default sizes to run: those of the seed texts, or DRAM-sized ones."""

    SEED = "seed"
    DRAM = "dram"
