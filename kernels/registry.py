"""The explicit list of kernels, and how they are found by name."""

from functools import cache
from importlib.metadata import entry_points

from rooflens.errors import UnknownNameError, UsageError
from rooflens.kernels.attention import KERNELS as ATTENTION
from rooflens.kernels.gemm import KERNELS as GEMM
from rooflens.kernels.gemv import KERNELS as GEMV
from rooflens.kernels.kv_cache import KERNELS as KV_CACHE
from rooflens.kernels.layer import KERNELS as LAYER
from rooflens.kernels.layernorm import KERNELS as LAYERNORM
from rooflens.kernels.rmsnorm import KERNELS as RMSNORM
from rooflens.kernels.rope import KERNELS as ROPE
from rooflens.kernels.softmax import KERNELS as SOFTMAX
from rooflens.kernels.spec import AnyKernelSpec
from rooflens.kernels.swiglu import KERNELS as SWIGLU

ENTRY_POINT_GROUP = "rooflens.kernels"

BUILT_IN: tuple[AnyKernelSpec, ...] = (
    *SOFTMAX,
    *LAYERNORM,
    *RMSNORM,
    *ROPE,
    *ATTENTION,
    *GEMM,
    *GEMV,
    *SWIGLU,
    *KV_CACHE,
    *LAYER,
)


@cache
def catalogue() -> dict[str, AnyKernelSpec]:
    """All kernels by name: ours in ladder order, then those of installed packages.

    A package adds kernels with an entry point of group "rooflens.kernels" that names a tuple of
    KernelSpecs. A name given twice is a UsageError.
    """
    found: dict[str, AnyKernelSpec] = {}
    for kernel in (*BUILT_IN, *_third_party()):
        if kernel.name in found:
            raise UsageError(f"two kernels are named {kernel.name}")
        found[kernel.name] = kernel
    return found


def select(names: tuple[str, ...]) -> tuple[AnyKernelSpec, ...]:
    """The kernels that `names` (kernels or families) stand for; all of them if there are none.

    Raises UnknownNameError, which lists near matches.
    """
    known = catalogue()
    if not names:
        return tuple(known.values())
    families = {kernel.family.name for kernel in known.values()}
    chosen: dict[str, AnyKernelSpec] = {}
    for name in names:
        if name in families:
            chosen.update({key: one for key, one in known.items() if one.family.name == name})
        elif name in known:
            chosen[name] = known[name]
        else:
            raise UnknownNameError("kernel or family", name, (*sorted(families), *known))
    return tuple(chosen.values())


def _third_party() -> tuple[AnyKernelSpec, ...]:
    found: list[AnyKernelSpec] = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            found.extend(point.load())
        except Exception as error:
            raise UsageError(
                f"kernels of entry point {point.name!r} ({point.value}) cannot be loaded: {error}"
            ) from error
    return tuple(found)
