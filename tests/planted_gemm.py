"""gemm kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.gemm import KERNELS, GemmSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "gemm"

# No extent is that of another or a multiple of a tile, and one product lies behind the last tile.
SIZE = GemmSize(m=17, n=33, k=65)
WRONG_RESULT = (
    "skips_tail",
    "transposed",
    "wrong_stride",
    "edge_off_by_one",
    "narrow_sum",
    "drops_bits",
)


def planted(name: str) -> KernelSpec[GemmSize]:
    """The kernel with that fault, in the place of shared; `right` has none."""
    (model,) = (one for one in KERNELS if one.variant == "shared")
    return replace(
        model,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
