"""An attention layer as one chain: QKV projection, rope, flash attention, output projection."""

from rooflens.kernels.layer.family import LAYER, LayerSize
from rooflens.kernels.layer.variants import KERNELS

__all__ = ["KERNELS", "LAYER", "LayerSize"]
