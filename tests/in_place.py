"""Kernels with a planted fault, launched and checked as a variant of the catalogue is."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec, S
from rooflens.precision import DType

PLANTED_FOLDER = Path(__file__).resolve().parent / "data" / "planted"


def in_place_of(kernels: Sequence[KernelSpec[S]], variant: str, fault: str) -> KernelSpec[S]:
    """The float32 kernel planted/family/fault.cu, with all else that the variant has."""
    (model,) = (one for one in kernels if one.variant == variant)
    return replace(
        model,
        variant=f"planted_{fault}",
        idea="a planted fault",
        source=str(PLANTED_FOLDER / model.family.name / f"{fault}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
