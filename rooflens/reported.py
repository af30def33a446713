"""What another tool's report says of one launch of a kernel: the record behind imported numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rooflens.errors import UsageError
from rooflens.precision import Precision
from rooflens.terms import MemoryLevel


class TensorInput(StrEnum):
    """Input type of tensor-unit operations, as reports tell them apart."""

    FP64 = "fp64"
    TF32 = "tf32"
    FP16 = "fp16"
    BF16 = "bf16"
    FP8 = "fp8"
    FP6 = "fp6"
    FP4 = "fp4"
    INT8 = "int8"
    INT4 = "int4"
    INT1 = "int1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a launch stands: file name, line there, and the tool that wrote it."""

    file: str
    row: int
    tool: str
    tool_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedDevice:
    """The device that a launch ran on, as far as the report names it."""

    index: int | None = None
    name: str | None = None
    compute_capability: tuple[int, int] | None = None
    sm_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One launch, or the launches that a summary's row stands for, as another tool reports them.

    kernel_name: in full, as the file has it. shared_bytes: static and dynamic together, where the
    report does not tell them apart. operator: of a framework, which launched it. ranges: NVTX and
    their like, outermost first. launches: how many the numbers are of, or the mean of.
    traffic_bytes: through each memory level. flops: on the ordinary pipes, a fused multiply-add
    counted as two. not_arithmetic: those of them whose instructions only load constants, by the
    look of their number. tensor_ops: of the tensor units, a multiply-add as two, by input type.
    tensor_precisions: those of them whose accumulators the report tells.
    special_function_instructions: warp instructions of the unit that also converts types.
    fractions: of 1, by what they are of ("sm_throughput", "achieved_occupancy", ...).
    stall_cycles: a warp's cycles per issued instruction, by reason. clocks_hz: "sm", "dram".
    derivations: for each quantity that is worked out, from which metrics and how. absent: for each
    quantity that the report could have held and does not, why.
    """

    kernel_name: str
    source: Source
    device: ReportedDevice = field(default_factory=ReportedDevice)
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    thread_count: int | None = None
    registers: int | None = None
    static_shared_bytes: int | None = None
    dynamic_shared_bytes: int | None = None
    shared_bytes: int | None = None
    process_id: str | None = None
    process_name: str | None = None
    context: str | None = None
    stream: str | None = None
    operator: str | None = None
    ranges: tuple[str, ...] = ()
    launches: int = 1
    mean_time_s: float | None = None
    traffic_bytes: Mapping[MemoryLevel, float] = field(default_factory=dict)
    dram_read_bytes: float | None = None
    dram_write_bytes: float | None = None
    flops: Mapping[Precision, float] = field(default_factory=dict)
    not_arithmetic: tuple[Precision, ...] = ()
    tensor_ops: Mapping[TensorInput, float] = field(default_factory=dict)
    tensor_precisions: Mapping[Precision, float] = field(default_factory=dict)
    special_function_instructions: float | None = None
    fractions: Mapping[str, float] = field(default_factory=dict)
    stall_cycles: Mapping[str, float] = field(default_factory=dict)
    clocks_hz: Mapping[str, float] = field(default_factory=dict)
    derivations: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.launches < 1:
            raise UsageError(f"a report is of at least one launch, got {self.launches}")
        if None not in (self.static_shared_bytes, self.dynamic_shared_bytes, self.shared_bytes):
            raise UsageError("shared_bytes is for reports that do not tell static from dynamic")
        amounts = (*self.traffic_bytes.values(), *self.flops.values(), *self.tensor_ops.values())
        if amounts and min(amounts) < 0:
            raise UsageError(
                f"{self.kernel_name}: reported bytes and operations cannot be negative"
            )

    @property
    def threads(self) -> int | None:
        """Threads launched in all, by the launch's shape, or as reported where that is unknown."""
        if self.grid is None or self.block is None:
            return self.thread_count
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        return blocks * self.block[0] * self.block[1] * self.block[2]
