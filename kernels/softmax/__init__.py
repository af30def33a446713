"""softmax over the last axis of a rows x cols matrix, as a ladder of seven variants."""

from rooflens.kernels.softmax.family import SOFTMAX, SoftmaxSize
from rooflens.kernels.softmax.variants import KERNELS

__all__ = ["KERNELS", "SOFTMAX", "SoftmaxSize"]
