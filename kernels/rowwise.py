"""What the families that work on rows or single elements share: storage types, rounding, rows."""

from collections.abc import Callable
from dataclasses import dataclass

from rooflens.hardware import LaunchLimits
from rooflens.kernels.spec import CType, Family, KernelSpec, Plan, S, Scalar, Tolerance
from rooflens.kernels.storage import smallest_subnormal, unit_roundoff
from rooflens.precision import DType

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
ACCESS_BYTES = 16
KEPT_ELEMENTS = 32  # of a row in a thread's registers, at most
UNIT = unit_roundoff(DType.FLOAT32)


def unsigned(value: int) -> Scalar:
    """An argument for an `unsigned` parameter."""
    return Scalar(CType.UINT32, value)


def variant(
    family: Family[S], name: str, idea: str, plan: Callable[[S, DType, LaunchLimits], Plan]
) -> KernelSpec[S]:
    """A kernel of `family` in all three dtypes, whose source is family/name.cu."""
    return KernelSpec(
        family=family,
        variant=name,
        idea=idea,
        source=f"{family.name}/{name}.cu",
        dtypes=DTYPES,
        plan=plan,
    )


def pack_elements(dtype: DType) -> int:
    """Elements that one 16-byte access moves."""
    return ACCESS_BYTES // dtype.itemsize


def widest_access(extent: int, dtype: DType) -> int:
    """Elements of the widest access that divides `extent` elements: a power of two."""
    return min(pack_elements(dtype), extent & -extent)


def stored(dtype: DType, float32: Tolerance) -> Tolerance:
    """The tolerance of a float32 result once it is rounded to `dtype`.

    Rounding errs by at most the unit roundoff times the value, or by half the smallest positive
    number where that is more (subnormal results).
    """
    if dtype is DType.FLOAT32:
        return float32
    unit = unit_roundoff(dtype)
    return Tolerance(
        absolute=float32.absolute * (1 + unit) + smallest_subnormal(dtype) / 2,
        relative=float32.relative * (1 + unit) + unit,
        reason=(
            f"{dtype}: the result is rounded once, by {unit:.3g} of itself or half the smallest "
            f"number; before that, as in {float32.reason}"
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRow:
    """How a block of `threads` holds a row of `cols` elements in registers.

    Accesses are 16 bytes wide where every row starts on 16 bytes, and one element elsewhere. A
    thread keeps at most KEPT_ELEMENTS; what is beyond is read again in every pass.
    """

    cols: int
    dtype: DType
    threads: int

    @property
    def width(self) -> int:
        """Elements an access."""
        pack = pack_elements(self.dtype)
        return pack if self.cols % pack == 0 else 1

    @property
    def accesses(self) -> int:
        """Accesses that a thread keeps."""
        needed = -(-self.cols // (self.threads * self.width))
        return min(needed, KEPT_ELEMENTS // self.width)

    @property
    def kept(self) -> int:
        """Elements of the row that stay in registers."""
        return min(self.cols, self.threads * self.accesses * self.width)

    @property
    def beyond(self) -> int:
        """Elements that do not."""
        return self.cols - self.kept

    @property
    def defines(self) -> dict[str, str]:
        """The -D that common/row.cuh asks for."""
        return {"ROW_WIDTH": str(self.width), "ROW_ACCESSES": str(self.accesses)}
