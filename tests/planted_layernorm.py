"""layernorm kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.layernorm import KERNELS, LayerNormSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "layernorm"

# Fewer columns than half the threads, so that empty parts meet and the others are not alike.
SIZE = LayerNormSize(rows=9, cols=100)
WRONG_RESULT = (
    "no_broadcast",
    "averages_parts",
    "empty_parts",
    "sample_variance",
    "epsilon_outside",
)


def planted(name: str) -> KernelSpec[LayerNormSize]:
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
