"""gemv kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.gemv import KERNELS, GemvSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "gemv"

# Not square, rows for every warp of a block, and three elements behind the last pack of four.
SIZE = GemvSize(m=9, k=1023)
WRONG_RESULT = (
    "lane0_writers",
    "skips_tail",
    "reads_past_row",
    "transposed",
    "rounds_elements",
)


def planted(name: str) -> KernelSpec[GemvSize]:
    """The kernel with that fault, in the place of block_per_row; `right` has none."""
    (model,) = (one for one in KERNELS if one.variant == "block_per_row")
    return replace(
        model,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
