"""rmsnorm over the last axis of a rows x cols matrix: one thread per row, and 256."""

from rooflens.kernels.rmsnorm.family import RMSNORM, RmsNormSize
from rooflens.kernels.rmsnorm.variants import KERNELS

__all__ = ["KERNELS", "RMSNORM", "RmsNormSize"]
