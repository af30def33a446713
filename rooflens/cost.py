"""What a kernel has to do, counted from its definition, never knowing the time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rooflens.errors import UsageError
from rooflens.precision import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Bytes read and written."""

    read_bytes: int
    write_bytes: int

    def __post_init__(self) -> None:
        if self.read_bytes < 0 or self.write_bytes < 0:
            raise UsageError(f"traffic cannot be negative: {self!r}")

    @property
    def total_bytes(self) -> int:
        return self.read_bytes + self.write_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Work and traffic of one launch or of a whole kernel.

    flops: operations that the definition needs, by precision (an add, a multiply and a divide are
    1, a fused multiply-add is 2, comparisons are none); work that a variant repeats earns nothing,
    so that rates of variants compare. special_function_ops: exponentials, roots and the like that
    the variant as written evaluates, repeats included. compulsory: each input read once and each
    output written once. issued: what the loads and stores of the variant as written ask for.
    """

    flops: Mapping[Precision, int]
    special_function_ops: int
    compulsory: Traffic
    issued: Traffic

    def __post_init__(self) -> None:
        if self.special_function_ops < 0 or any(count < 0 for count in self.flops.values()):
            raise UsageError(f"a cost cannot be negative: {self!r}")


def add_issued(costs: Iterable[Cost]) -> tuple[Traffic, int]:
    """Issued traffic and special-function operations of several launches together."""
    read_bytes = write_bytes = special = 0
    for cost in costs:
        read_bytes += cost.issued.read_bytes
        write_bytes += cost.issued.write_bytes
        special += cost.special_function_ops
    return Traffic(read_bytes=read_bytes, write_bytes=write_bytes), special
