"""attention kernels with a known fault each, as catalogue entries of their own."""

from dataclasses import replace
from pathlib import Path

from rooflens.kernels.attention import KERNELS, AttentionSize
from rooflens.kernels.sources import KERNELS_FOLDER
from rooflens.kernels.spec import KernelSpec
from rooflens.precision import DType

FOLDER = Path(__file__).resolve().parent / "data" / "planted" / "attention"

# Two blocks of rows, both ragged; three heads of queries to one of keys; a root that is not 2^n.
CAUSAL = AttentionSize(heads=6, kv_heads=2, seq=150, dim=20, causal=1)
FULL = replace(CAUSAL, causal=0)
SIZES = (CAUSAL, FULL)

# Those that compute a wrong result, and where.
WRONG_RESULT = {
    "no_scale": SIZES,
    "sees_next": (CAUSAL,),
    "misses_own": (CAUSAL,),
    "wrong_group": SIZES,
    "keeps_sum": SIZES,
    "keeps_output": SIZES,
    "no_maximum": SIZES,
    "counts_padding": (FULL,),
}
REFUSED = [(name, size) for name, sizes in WRONG_RESULT.items() for size in sizes]


def planted(name: str) -> KernelSpec[AttentionSize]:
    """The kernel with that fault, in the place of flash_v3; `right` has none."""
    (model,) = (one for one in KERNELS if one.variant == "flash_v3")
    return replace(
        model,
        variant=f"planted_{name}",
        idea="a planted fault",
        source=str(FOLDER / f"{name}.cu"),
        dtypes=(DType.FLOAT32,),
        include_folders=(KERNELS_FOLDER / "common",),
    )
