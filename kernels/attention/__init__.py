"""Scaled dot-product attention, as a ladder of five variants."""

from rooflens.kernels.attention.family import ATTENTION, AttentionSize
from rooflens.kernels.attention.variants import KERNELS

__all__ = ["ATTENTION", "KERNELS", "AttentionSize"]
