"""rmsnorm kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.rmsnorm import KERNELS, RmsNormSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "rmsnorm"

# No multiple of the block, and rows of all kinds.
SIZE = RmsNormSize(rows=9, cols=1023)
WRONG_RESULT = (
    "epsilon_outside",
    "divides_by_less",
    "one_partial",
)


def planted(name: str) -> KernelSpec[RmsNormSize]:
    """The kernel with that fault, in the place of the warp variant; `right` has none."""
    (model,) = (one for one in KERNELS if one.variant == "warp")
    return replace(
        model,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
