"""What all attention variants compute, and how their results are checked."""

import math
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rooflens.errors import UsageError
from rooflens.kernels.rowwise import UNIT, stored
from rooflens.kernels.spec import Array, Family, Size, Tolerance
from rooflens.kernels.storage import numpy_type, smallest_subnormal, unit_roundoff
from rooflens.precision import DType
from rooflens.terms import SizeSet

# |query| |key| scale by the query's row modulo 4, at the last key. Scores of the third kind climb
# over 89, where exp overflows without the maximum subtracted; those of the fourth fall as far.
ROW_SCORES = (3.0, 20.0, 110.0, -110.0)
SCORE_LIMIT = 112.0  # of any score, with room for the rounding of stored queries and keys
FIRST_KEY_SHARE = 0.1  # a key's length grows along the sequence, from this share of the last one's
DIRECTION_SHARE = 0.95  # cosine between a query or key and the direction that its head shares
VALUE_MEAN, VALUE_SPREAD = 1.0, 3.0
VALUE_LIMIT = 4.02  # of any |value|, likewise
REFERENCE_ROWS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionSize(Size):
    """Queries [heads, seq, dim]; keys and values [kv_heads, seq, dim], row-major.

    Query head h reads head h // (heads // kv_heads) of keys and values. causal=1: query i sees keys
    0 to i. Raises UsageError unless kv_heads divides heads.
    """

    FLAGS: ClassVar[tuple[str, ...]] = ("causal",)

    heads: int
    kv_heads: int
    seq: int
    dim: int
    causal: int = 0

    def __post_init__(self) -> None:
        Size.__post_init__(self)  # a slotted dataclass is made anew: super() would not find it
        if self.heads % self.kv_heads:
            raise UsageError(
                f"kv_heads must divide heads, got {self.kv_heads} for {self.heads} heads"
            )

    @property
    def group(self) -> int:
        """Query heads that read one head of keys and values."""
        return self.heads // self.kv_heads

    @property
    def scale(self) -> float:
        """What scores are multiplied by: 1 / sqrt(dim)."""
        return 1 / math.sqrt(self.dim)


def make_inputs(size: AttentionSize, dtype: DType, rng: np.random.Generator) -> dict[str, Array]:
    """q [heads, seq, dim], k and v [kv_heads, seq, dim] in the storage type.

    Keys lie about one direction per head and grow along the sequence, so that a row's maximum grows
    from tile to tile (or falls, for rows of the fourth kind). Values are about 1, so that a wrong
    denominator shows in every element.
    """
    directions = _unit(rng.standard_normal((size.kv_heads, 1, size.dim), dtype=np.float32))
    reach = math.sqrt(math.sqrt(size.dim))  # lengths multiply to score * sqrt(dim)
    growth = np.linspace(FIRST_KEY_SHARE, 1.0, size.seq, dtype=np.float32)[None, :, None]
    keys = _about(directions, size.seq, rng)
    keys *= growth * np.float32(reach)
    queries = _about(np.repeat(directions, size.group, axis=0), size.seq, rng)
    queries *= np.resize(np.asarray(ROW_SCORES, np.float32), size.seq)[None, :, None]
    queries *= np.float32(reach)
    values = rng.standard_normal((size.kv_heads, size.seq, size.dim), dtype=np.float32)
    np.clip(values, -VALUE_SPREAD, VALUE_SPREAD, out=values)
    values += np.float32(VALUE_MEAN)
    stored_as = numpy_type(dtype)
    return {
        "q": queries.astype(stored_as, copy=False),
        "k": keys.astype(stored_as, copy=False),
        "v": values.astype(stored_as, copy=False),
    }


def _unit(vectors: Array) -> Array:
    """Each vector divided by its length."""
    lengths = np.sqrt(np.einsum("hsd,hsd->hs", vectors, vectors))[..., None]
    unit: Array = vectors / lengths
    return unit


def _about(directions: Array, seq: int, rng: np.random.Generator) -> Array:
    """Unit vectors [heads, seq, dim] near their head's direction."""
    heads, _, dim = directions.shape
    noise = _unit(rng.standard_normal((heads, seq, dim), dtype=np.float32))
    noise *= np.float32(math.sqrt(1 - DIRECTION_SHARE**2))
    noise += np.float32(DIRECTION_SHARE) * directions
    return _unit(noise)


def reference(inputs: Mapping[str, Array], size: AttentionSize) -> dict[str, Array]:
    """out[h, i] = sum over visible j of p[j] v[h', j], p = softmax(q[h, i] . k[h', j] / sqrt(dim)).

    h' = h // group. A row that saw no key would be zeros; with causal square attention every row
    sees at least its own. float64, a block of rows of a head at a time, heads side by side.
    """
    out = np.empty((size.heads, size.seq, size.dim), dtype=np.float64)

    def attend_head(head: int) -> None:
        keys = inputs["k"][head // size.group].astype(np.float64)
        values = inputs["v"][head // size.group].astype(np.float64)
        queries = inputs["q"][head].astype(np.float64) * size.scale
        for start in range(0, size.seq, REFERENCE_ROWS):
            stop = min(size.seq, start + REFERENCE_ROWS)
            seen = stop if size.causal else size.seq
            scores = queries[start:stop] @ keys[:seen].T
            if size.causal:
                hidden = np.arange(seen) > np.arange(start, stop)[:, None]
                scores[hidden] = -np.inf
            scores -= scores.max(axis=1, keepdims=True)
            np.exp(scores, out=scores)
            sums = scores.sum(axis=1, keepdims=True)
            out[head, start:stop] = scores @ values[:seen] / sums

    with ThreadPoolExecutor(max_workers=min(size.heads, os.cpu_count() or 1)) as pool:
        list(pool.map(attend_head, range(size.heads)))
    return {"out": out}


def absolute_error(
    *, seq: int, score_error: float, value_limit: float, value_spread: float
) -> float:
    """By how much an output may be off in float32, for scores that are off by `score_error`.

    Weights that err by e of themselves at most move the result by sum p (e_j - mean e) (v_j - out):
    at most e times half the range of values, value_spread. A score's error is its weight's relative
    error. value_limit: of any |value|.
    """
    rescaled = seq / 8 * 4 * UNIT
    added = 2 * (seq + seq / 8 + 8) * UNIT
    return value_spread * (score_error + rescaled) + value_limit * added


def tolerance(size: AttentionSize, dtype: DType) -> Tolerance:
    """An absolute limit from the largest scores and values of make_inputs, then rounding."""
    float32 = absolute_error(
        seq=size.seq,
        score_error=(size.dim + 10) * UNIT * SCORE_LIMIT,
        value_limit=VALUE_LIMIT,
        value_spread=VALUE_SPREAD,
    )
    reason = (
        "float32: a score is a chain of dim products whose partial sums are at most "
        f"{SCORE_LIMIT:g} by the lengths of queries and keys, then scaled, shifted and put into an "
        "exponential; sums of weights and of weighted values are rescaled up to seq / 8 times by "
        "exponentials good to 4 half-units in the last place, and added to up to seq times; values "
        f"are up to {VALUE_LIMIT:g} and {VALUE_SPREAD:g} from the middle of their range"
    )
    if dtype is DType.FLOAT32:
        return Tolerance(absolute=float32, relative=8 * UNIT, reason=reason)
    # Weights, of which the largest is 1, are rounded to the element type, the smallest ones to half
    # of its smallest number. Tensor cores may cut off where float32 arithmetic rounds.
    weights = VALUE_LIMIT * (unit_roundoff(dtype) + size.seq * smallest_subnormal(dtype) / 2)
    wider = Tolerance(
        absolute=2 * float32 + weights,
        relative=8 * UNIT,
        reason=(
            f"weights rounded to {dtype} on their way into a tensor core, whose additions may cut "
            f"off and so err twice as much; otherwise {reason}"
        ),
    )
    return stored(dtype, wider)


ATTENTION = Family(
    name="attention",
    title="scaled dot-product attention",
    size_type=AttentionSize,
    sizes={
        SizeSet.SEED: (AttentionSize(heads=4, kv_heads=4, seq=2048, dim=64),),
        SizeSet.DRAM: (
            AttentionSize(heads=32, kv_heads=32, seq=2048, dim=128),
            AttentionSize(heads=32, kv_heads=32, seq=8192, dim=128),
            AttentionSize(heads=32, kv_heads=8, seq=8192, dim=128, causal=1),
        ),
    },
    make_inputs=make_inputs,
    reference=reference,
    tolerance=tolerance,
)
