"""rope kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.rope import KERNELS, RopeSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "rope"

# Positions past 256, several heads, and a head that is no power of two.
SIZE = RopeSize(seq=300, heads=3, dim=66)
WRONG_RESULT = (
    "other_layout",
    "backwards",
    "from_one",
    "half_exponent",
    "overwrites",
    "narrow_position",
    "head_as_position",
)


def planted(name: str) -> KernelSpec[RopeSize]:
    """The kernel with that fault, in the place of the naive variant; `right` has none."""
    (model,) = (one for one in KERNELS if one.variant == "naive")
    return replace(
        model,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
