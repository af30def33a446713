"""What both layer variants compute, and how their results are checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rooflens.kernels.attention import ATTENTION, AttentionSize
from rooflens.kernels.attention.family import absolute_error
from rooflens.kernels.rope import RopeSize
from rooflens.kernels.rope.family import angle_errors, frequencies, rotate
from rooflens.kernels.rowwise import UNIT, stored
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type, unit_roundoff
from rooflens.precision import DType
from rooflens.terms import SizeSet

# x holds whole multiples of 1/8 up to 15/8, and a column of a weight matrix a few powers of two
# among zeros: projections of x are then exact in float32, and what is off stems from rope and
# attention.
X_STEPS, X_LARGEST = 8, 15
WEIGHTS_PER_COLUMN = 2
LARGEST = WEIGHTS_PER_COLUMN * X_LARGEST / X_STEPS  # of any query, key or value element
# A float32 angle is off by a share of itself. Pairs that turn further than this many radians have
# their queries and keys made smaller, by powers of two, until the angle times the product of both
# is what it would be at this angle: else the angles' error, which is no kernel's fault, would hide
# the faults of kernels.
WEIGHED_ANGLE = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSize(Size):
    """seq tokens of `hidden` elements; heads of dim elements, kv_heads of them for keys and values.

    x [seq, hidden], w_qkv [hidden, (heads + 2 kv_heads) dim], w_out [heads dim, hidden], y as x.
    causal=1: token i sees tokens 0 to i. Raises UsageError unless kv_heads divides heads.
    """

    FLAGS: ClassVar[tuple[str, ...]] = ("causal",)

    seq: int
    hidden: int
    heads: int
    kv_heads: int
    dim: int
    causal: int = 0

    def __post_init__(self) -> None:
        Size.__post_init__(self)  # a slotted dataclass is made anew: super() would not find it
        _ = self.attention  # whose checks are the layer's

    @property
    def attention(self) -> AttentionSize:
        """The attention inside."""
        return AttentionSize(
            heads=self.heads,
            kv_heads=self.kv_heads,
            seq=self.seq,
            dim=self.dim,
            causal=self.causal,
        )

    @property
    def turned(self) -> RopeSize:
        """The rope inside: query and key heads side by side."""
        return RopeSize(seq=self.seq, heads=self.heads + self.kv_heads, dim=self.dim)

    @property
    def width(self) -> int:
        """Elements of a token's queries, keys and values together."""
        return (self.heads + 2 * self.kv_heads) * self.dim

    @property
    def inner(self) -> int:
        """Elements of a token's query heads."""
        return self.heads * self.dim


def make_inputs(size: LayerSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """x, w_qkv and w_out in the storage type, which holds them exactly."""
    shape = (size.seq, size.hidden)
    x = rng.integers(1, X_LARGEST + 1, size=shape).astype(np.float32)
    x *= np.where(rng.integers(0, 2, size=shape, dtype=np.bool_), 1, -1) / np.float32(X_STEPS)
    kept = numpy_type(dtype)
    w_qkv = _sparse(size.hidden, size.width, rng)
    w_qkv[:, : size.turned.heads * size.dim] *= np.tile(
        np.repeat(pair_weights(size), 2), size.turned.heads
    ).astype(np.float32)
    return {
        "x": x.astype(kept),
        "w_qkv": w_qkv.astype(kept),
        "w_out": _sparse(size.inner, size.hidden, rng).astype(kept),
    }


def pair_weights(size: LayerSize) -> Array:
    """By what the query and key elements of each pair are multiplied; see WEIGHED_ANGLE."""
    angles = (size.seq - 1) * frequencies(size.turned)
    halvings = np.ceil(np.log2(np.maximum(angles / WEIGHED_ANGLE, 1.0)) / 2)
    weights: Array = np.exp2(-halvings)
    return weights


def _sparse(rows: int, columns: int, rng: np.random.Generator) -> Array:
    """Up to WEIGHTS_PER_COLUMN -1 or +1 in each column, at different places; zeros elsewhere."""
    weights = np.zeros((rows, columns), dtype=np.float32)
    count = min(WEIGHTS_PER_COLUMN, rows)
    first = rng.integers(0, rows, size=columns)
    for step in range(count):
        places = (first + step * max(1, rows // 2)) % rows
        weights[places, np.arange(columns)] = rng.choice((-1.0, 1.0), size=columns)
    return weights


def reference(inputs: Mapping[str, Array], size: LayerSize) -> dict[str, Array]:
    """y = attention(rope(q), rope(k), v) w_out with (q, k, v) = x w_qkv, in float64.

    rope turns neighbouring elements (2i, 2i + 1) of each head; scores are divided by sqrt(dim).
    """
    qkv = inputs["x"].astype(np.float64) @ inputs["w_qkv"].astype(np.float64)
    qkv = qkv.reshape(size.seq, -1, size.dim)
    turned, values = qkv[:, : size.turned.heads], qkv[:, size.turned.heads :]
    turned = rotate(turned, size.turned, slice(0, None, 2), slice(1, None, 2))
    by_head = {
        "q": turned[:, : size.heads].swapaxes(0, 1),
        "k": turned[:, size.heads :].swapaxes(0, 1),
        "v": values.swapaxes(0, 1),
    }
    attended = ATTENTION.reference(by_head, size.attention)["out"]
    rows = attended.swapaxes(0, 1).reshape(size.seq, size.inner)
    return {"y": rows @ inputs["w_out"].astype(np.float64)}


def tolerance(size: LayerSize, dtype: DType) -> Tolerance:
    """What rope's angles and attention make of exact queries, keys and values; then two sums.

    A pair of a query and one of a key, each at most sqrt(2) w LARGEST long for the pair's weight w
    and each turned by an angle that is off by d, move a score by at most 2 d 2 (w LARGEST)^2 /
    sqrt(dim).
    """
    pairs = 2 * (pair_weights(size) * LARGEST) ** 2 / np.sqrt(size.dim)
    turned = 2 * float(((angle_errors(size.turned) + 6 * UNIT) * pairs).sum())
    rounded = (size.dim + 10) * UNIT * float(pairs.sum())
    attended = absolute_error(
        seq=size.seq,
        score_error=turned + rounded,
        value_limit=LARGEST,
        value_spread=LARGEST,
        rounds=True,
    )
    if dtype is not DType.FLOAT32:
        attended = attended * (1 + unit_roundoff(dtype)) + unit_roundoff(dtype) * LARGEST
    float32 = Tolerance(
        absolute=WEIGHTS_PER_COLUMN * attended,
        relative=8 * UNIT,
        reason=(
            "float32: queries, keys and values are exact; float32 angles of rope may move a score "
            f"by {turned:.2g} and its own sum by {rounded:.2g}; attention over values of up to "
            f"{LARGEST:g} may then be off by {attended:.2g} (with its rounding to {dtype}), of "
            f"which an output adds {WEIGHTS_PER_COLUMN}"
        ),
    )
    return stored(dtype, float32)


LAYER = Family(
    name="layer",
    title="QKV projection, rope, attention, output projection",
    size_type=LayerSize,
    sizes={
        SizeSet.SEED: (LayerSize(seq=2048, hidden=256, heads=4, kv_heads=4, dim=64),),
        SizeSet.DRAM: (LayerSize(seq=4096, hidden=4096, heads=32, kv_heads=8, dim=128, causal=1),),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
