"""layernorm over the last axis of a rows x cols matrix, as a ladder of five variants."""

from rooflens.kernels.layernorm.family import LAYERNORM, LayerNormSize
from rooflens.kernels.layernorm.variants import KERNELS

__all__ = ["KERNELS", "LAYERNORM", "LayerNormSize"]
