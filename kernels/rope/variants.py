"""The four rope variants, in the order of the ladder: launch shapes and costs."""

import math
from collections.abc import Mapping
from dataclasses import replace

from rooflens.cost import Cost, Traffic
from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.rope.family import (
    BASE,
    LARGEST_ANGLE_ERROR,
    ROPE,
    RopeSize,
    angle_error,
    half_reference,
    table_tolerance,
)
from rooflens.kernels.rowwise import unsigned, variant, widest_access
from rooflens.kernels.spec import (
    Buffer,
    CType,
    KernelSpec,
    Launch,
    Plan,
    Pointer,
    Role,
    Scalar,
    line_of_blocks,
)
from rooflens.kernels.storage import element_define
from rooflens.precision import DType, Precision

LARGEST_BLOCK = 256
WARP = 32
LARGEST_TOKEN = 2**31  # elements; places within a token are unsigned
FLOPS_PER_PAIR = 6  # four products, an addition and a subtraction
COMPUTED_PER_PAIR = 3  # a sine, a cosine and the exponential of the frequency
TABLES = ("cosines", "sines")


def frequency_step(dim: int) -> Scalar:
    """log2 of the ratio of a pair's frequency to that of the pair before."""
    return Scalar(CType.FLOAT32, -2.0 * math.log2(BASE) / dim)


def _cost(size: RopeSize, dtype: DType, *, tables: bool) -> Cost:
    """Per pair four products, an addition and a subtraction.

    Angles earn no operations: they depend on neither x nor the head, and a table can hold them. A
    variant that computes them does so for every head again, and one with tables has every pair ask
    for its cosine and its sine.
    """
    elements = size.seq * size.heads * size.dim
    pairs = elements // 2
    tensor = elements * dtype.itemsize
    item = DType.FLOAT32.itemsize
    table_bytes = len(TABLES) * size.seq * (size.dim // 2) * item if tables else 0
    asked_of_tables = len(TABLES) * pairs * item if tables else 0
    return Cost(
        flops={Precision.FP32: FLOPS_PER_PAIR * pairs},
        special_function_ops=0 if tables else COMPUTED_PER_PAIR * pairs,
        compulsory=Traffic(read_bytes=tensor + table_bytes, write_bytes=tensor),
        issued=Traffic(read_bytes=tensor + asked_of_tables, write_bytes=tensor),
    )


def _plan(
    size: RopeSize,
    dtype: DType,
    *,
    name: str,
    thread_elements: int,
    tables: bool = False,
    defines: Mapping[str, str] | None = None,
) -> Plan:
    """Blocks that keep to one token, a thread for each `thread_elements` of it."""
    places = size.heads * size.dim // thread_elements
    threads = min(LARGEST_BLOCK, -(-places // WARP) * WARP)
    token_blocks = -(-places // threads)
    step = () if tables else (frequency_step(size.dim),)
    read = ("x", *TABLES) if tables else ("x",)
    cost = _cost(size, dtype, tables=tables)
    launch = Launch(
        entry=f"rope_{name}",
        grid=line_of_blocks(size.seq * token_blocks, f"rope_{name}", size),
        block=(threads, 1, 1),
        arguments=(
            *(Pointer(one) for one in (*read, "y")),
            *(unsigned(one) for one in (size.heads, token_blocks)),
            *step,
        ),
        cost=cost,
    )
    shape, table_shape = (size.seq, size.heads, size.dim), (size.seq, size.dim // 2)
    return Plan(
        buffers=(
            Buffer(name="x", shape=shape, dtype=dtype, role=Role.INPUT),
            *(
                Buffer(name=one, shape=table_shape, dtype=DType.FLOAT32, role=Role.INPUT)
                for one in read[1:]
            ),
            Buffer(name="y", shape=shape, dtype=dtype, role=Role.OUTPUT),
        ),
        launches=(launch,),
        cost=cost,
        defines={"BLOCK_THREADS": str(threads), "DIM": str(size.dim)}
        | element_define(dtype)
        | dict(defines or {}),
    )


def _check_pairs(size: RopeSize) -> None:
    if size.dim % 2:
        raise NotSupportedError(f"rope turns pairs of elements: dim must be even, got {size.dim}")
    if size.heads * size.dim >= LARGEST_TOKEN:
        raise NotSupportedError(
            f"rope counts the {size.heads * size.dim} elements of a token in 32 bits"
        )


def check_angles(size: RopeSize, instead: str = ": use rope.table") -> None:
    """Raises NotSupportedError where pairs cannot be formed, or turned by float32 angles."""
    _check_pairs(size)
    error = angle_error(size)
    if error > LARGEST_ANGLE_ERROR:
        raise NotSupportedError(
            f"at position {size.seq - 1} a float32 angle may be off by {error:.2g} radians, "
            f"over {LARGEST_ANGLE_ERROR}{instead}"
        )


def plan_naive(size: RopeSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A thread for each pair."""
    check_angles(size)
    return _plan(size, dtype, name="naive", thread_elements=2)


def plan_vectorized(size: RopeSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A thread for each access, of 16 bytes where heads allow it."""
    check_angles(size)
    width = widest_access(size.dim, dtype)
    return _plan(
        size, dtype, name="vectorized", thread_elements=width, defines={"GROUP": str(width)}
    )


def plan_half_rotation(size: RopeSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """A thread for an access in each half of a head, of 16 bytes where halves allow it."""
    check_angles(size)
    width = widest_access(size.dim // 2, dtype)
    return _plan(
        size, dtype, name="half_rotation", thread_elements=2 * width, defines={"GROUP": str(width)}
    )


def plan_table(size: RopeSize, dtype: DType, limits: LaunchLimits) -> Plan:
    """As vectorized; no angle is computed, so that positions may be of any size."""
    _check_pairs(size)
    width = widest_access(size.dim, dtype)
    return _plan(
        size,
        dtype,
        name="table",
        thread_elements=width,
        tables=True,
        defines={"GROUP": str(width)},
    )


KERNELS: tuple[KernelSpec[RopeSize], ...] = (
    variant(ROPE, "naive", "a thread per pair, sine and cosine computed", plan_naive),
    variant(ROPE, "vectorized", "16-byte accesses, two or four pairs a thread", plan_vectorized),
    replace(
        variant(
            ROPE,
            "half_rotation",
            "pairs (i, i + dim / 2): partners lie in two accesses of their own",
            plan_half_rotation,
        ),
        reference=half_reference,
    ),
    replace(
        variant(ROPE, "table", "sines and cosines read from a table", plan_table),
        tolerance=table_tolerance,
    ),
)
