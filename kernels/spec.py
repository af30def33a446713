"""The nouns of the catalogue: what a kernel computes, how it is launched, what it costs."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from rooflens.cost import Cost
from rooflens.errors import NotSupportedError, UsageError
from rooflens.hardware import LaunchLimits
from rooflens.precision import DType
from rooflens.terms import SizeSet

Array = npt.NDArray[Any]
Triple = tuple[int, int, int]
LARGEST_GRID = 2**31 - 1  # blocks along x


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Base of a family's typed size: a frozen dataclass whose fields are positive integers.

    Fields named in FLAGS are 0 or 1 instead (causal=1).
    """

    FLAGS: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, value in self.as_dict().items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"size {name} must be a whole number, got {value!r}")
            if name in self.FLAGS:
                if value not in (0, 1):
                    raise UsageError(f"size {name} is 0 or 1, got {value}")
            elif not 1 <= value < 2**31:
                raise UsageError(f"size {name} must be from 1 to {2**31 - 1}, got {value}")

    def as_dict(self) -> dict[str, int]:
        """Field names and values, in order."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """Names of the size's fields, as a user gives them."""
        return tuple(entry.name for entry in fields(cls))

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.as_dict().items())


S = TypeVar("S", bound=Size)


class Role(StrEnum):
    """What a buffer is to a kernel.

    INPUT: filled before the run, never changed by it. OUTPUT: written by the run, every element.
    IN_OUT: filled before the run and updated in place; the reference gives all of it as it is
    afterwards. Running the kernel again must give the same again, since timing repeats it. SCRATCH:
    carries intermediates from launch to launch.
    """

    INPUT = "input"
    OUTPUT = "output"
    IN_OUT = "in_out"
    SCRATCH = "scratch"

    @property
    def is_filled(self) -> bool:
        """Whether make_inputs gives its contents."""
        return self in (Role.INPUT, Role.IN_OUT)

    @property
    def is_result(self) -> bool:
        """Whether the reference gives its contents after the run."""
        return self in (Role.OUTPUT, Role.IN_OUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A tensor in device memory, dense and row-major."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    role: Role

    @property
    def size_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class CType(Enum):
    """A scalar kernel parameter's C type, with the NumPy type that has its size."""

    INT32 = np.int32
    UINT32 = np.uint32
    INT64 = np.int64
    UINT64 = np.uint64
    FLOAT32 = np.float32
    FLOAT64 = np.float64


@dataclass(frozen=True, slots=True)
class Pointer:
    """A kernel argument that is the address of a buffer, by the buffer's name."""

    buffer: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """A kernel argument passed by value, of exactly the C type of its parameter.

    A float parameter takes a Python float, an integer parameter an int within range; anything else
    is a UsageError here, before any launch.
    """

    ctype: CType
    value: int | float

    def __post_init__(self) -> None:
        kind = np.dtype(self.ctype.value)
        if kind.kind == "f":
            if not isinstance(self.value, float):
                raise UsageError(f"a {kind.name} parameter takes a float, got {self.value!r}")
            return
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise UsageError(f"an {kind.name} parameter takes an int, got {self.value!r}")
        limits = np.iinfo(kind.name)
        if not limits.min <= self.value <= limits.max:
            raise UsageError(f"{self.value} does not fit an {kind.name} parameter")

    def packed(self) -> np.generic:
        """The value as a NumPy scalar of the parameter's size."""
        packed: np.generic = self.ctype.value(self.value)
        return packed


Argument = Pointer | Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One launch: entry point, shape, dynamic shared memory, arguments in order, own cost."""

    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[Argument, ...]
    cost: Cost
    dynamic_shared_bytes: int = 0

    def __post_init__(self) -> None:
        if min(*self.grid, *self.block) < 1 or self.dynamic_shared_bytes < 0:
            raise UsageError(f"{self.entry}: a launch needs positive extents, got {self!r}")
        threads = math.prod(self.block)
        if threads > 1024:
            raise UsageError(f"{self.entry}: a block has at most 1024 threads, got {threads}")
        if self.grid[0] > LARGEST_GRID or max(self.grid[1:]) >= 2**16:
            raise UsageError(f"{self.entry}: grid {self.grid} is over 2147483647 x 65535 x 65535")


def line_of_blocks(blocks: int, kernel: str, size: Size) -> Triple:
    """A grid of so many blocks along x. Raises NotSupportedError where no launch can have them."""
    if blocks > LARGEST_GRID:
        raise NotSupportedError(
            f"{kernel} at {size} would need {blocks} blocks, a launch has at most {LARGEST_GRID}"
        )
    return (blocks, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a variant runs one size on one card: its buffers and its launches in order.

    `defines` are compile-time constants (-D name=value) that this size or card asks for.
    """

    buffers: tuple[Buffer, ...]
    launches: tuple[Launch, ...]
    cost: Cost
    defines: Mapping[str, str] = field(default_factory=dict)

    @property
    def working_set_bytes(self) -> int:
        return sum(buffer.size_bytes for buffer in self.buffers)

    def __post_init__(self) -> None:
        names = [buffer.name for buffer in self.buffers]
        if len(set(names)) != len(names):
            raise UsageError(f"two buffers share a name: {names}")
        for launch in self.launches:
            for argument in launch.arguments:
                if isinstance(argument, Pointer) and argument.buffer not in names:
                    raise UsageError(f"{launch.entry}: no buffer named {argument.buffer!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """|out - ref| <= absolute + relative * |ref| for each element, and why."""

    absolute: float
    relative: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Family(Generic[S]):
    """What all variants of an operation share.

    make_inputs(size, dtype, rng): arrays by name of each filled buffer, in the storage type.
    reference(inputs, size): arrays by name of each result, float64 inside and out, from the inputs
    as stored. tolerance(size, dtype): how near a variant must come.
    """

    name: str
    title: str
    size_type: type[S]
    sizes: Mapping[SizeSet, tuple[S, ...]]
    make_inputs: Callable[[S, DType, np.random.Generator], dict[str, Array]]
    reference: Callable[[Mapping[str, Array], S], dict[str, Array]]
    tolerance: Callable[[S, DType], Tolerance]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSpec(Generic[S]):
    """One variant of a family: its idea, its source and how it is launched.

    source: path of the .cu file below the kernels folder ("softmax/naive.cu"), or an absolute path
    for a kernel from elsewhere. plan(size, dtype, limits) gives buffers, launches and cost, or
    raises NotSupportedError with the reason. arch_feature: "a" for code that needs sm_90a or
    sm_100a. options: further NVRTC options. include_folders: searched for headers that do not lie
    beside the source. reference: what this variant computes where the family's reference says
    something else, as for the same operation on another layout; from the family's inputs.
    tolerance: how near this variant must come where its arithmetic allows more, or less, than its
    family's.
    """

    family: Family[S]
    variant: str
    idea: str
    source: str
    dtypes: tuple[DType, ...]
    plan: Callable[[S, DType, LaunchLimits], Plan]
    arch_feature: str = ""
    options: tuple[str, ...] = ()
    include_folders: tuple[Path, ...] = ()
    reference: Callable[[Mapping[str, Array], S], dict[str, Array]] | None = None
    tolerance: Callable[[S, DType], Tolerance] | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.variant):
            raise UsageError(f"a variant is named in lower_snake_case, got {self.variant!r}")
        if self.arch_feature not in ("", "a"):
            raise UsageError(f"arch_feature is '' or 'a', got {self.arch_feature!r}")

    @property
    def name(self) -> str:
        """family.variant, as in softmax.naive."""
        return f"{self.family.name}.{self.variant}"

    @property
    def expected(self) -> Callable[[Mapping[str, Array], S], dict[str, Array]]:
        """The reference that results are compared with: the variant's own or its family's."""
        return self.reference or self.family.reference

    @property
    def allowed(self) -> Callable[[S, DType], Tolerance]:
        """How near results must come to it: the variant's own tolerance or its family's."""
        return self.tolerance or self.family.tolerance


AnyKernelSpec = KernelSpec[Any]
