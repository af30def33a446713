"""rope, rotary position embedding of [seq, heads, dim], in two layouts of its pairs."""

from rooflens.kernels.rope.family import ROPE, RopeSize, half_reference
from rooflens.kernels.rope.variants import KERNELS

__all__ = ["KERNELS", "ROPE", "RopeSize", "half_reference"]
