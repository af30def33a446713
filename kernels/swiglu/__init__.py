"""swiglu, gate * sigmoid(gate) * up, over two rows x cols matrices."""

from rooflens.kernels.swiglu.family import SWIGLU, SwigluSize
from rooflens.kernels.swiglu.variants import KERNELS

__all__ = ["KERNELS", "SWIGLU", "SwigluSize"]
