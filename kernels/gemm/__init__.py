"""C = A B for dense matrices, as a ladder of four variants."""

from rooflens.kernels.gemm.family import GEMM, GemmSize
from rooflens.kernels.gemm.variants import KERNELS

__all__ = ["GEMM", "KERNELS", "GemmSize"]
