"""swiglu kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.kernels.swiglu import KERNELS, SwigluSize
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "swiglu"

# 9207 elements: three are left behind the last pack of four.
SIZE = SwigluSize(rows=9, cols=1023)
WRONG_RESULT = (
    "overflows",
    "swapped",
    "skips_tail",
    "forgets_gate",
)


def planted(name: str) -> KernelSpec[SwigluSize]:
    """The kernel with that fault, in the place of the vectorized variant; `right` has none."""
    (model,) = (one for one in KERNELS if one.variant == "vectorized")
    return replace(
        model,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
