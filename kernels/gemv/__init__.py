"""gemv, the matrix-vector product y = A x."""

from rooflens.kernels.gemv.family import GEMV, GemvSize
from rooflens.kernels.gemv.variants import KERNELS

__all__ = ["GEMV", "KERNELS", "GemvSize"]
