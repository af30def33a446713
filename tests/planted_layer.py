"""layer kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.layer import KERNELS, LayerSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "layer"

# Causal, with two query heads to a key head: every fault below has something to spoil.
SIZE = LayerSize(seq=37, hidden=24, heads=4, kv_heads=2, dim=8, causal=1)
WRONG_RESULT = ("no_scale", "no_mask", "wrong_group", "no_rope", "other_layout")


def planted(name: str) -> KernelSpec[LayerSize]:
    """The kernel with that fault, in the place of the unfused variant; `right` has none."""
    (model,) = (one for one in KERNELS if one.variant == "unfused")
    return replace(
        model,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
