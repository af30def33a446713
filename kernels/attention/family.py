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

# What a row's scores come to at the longest key, by the row modulo 6. Those of 110 climb over 89,
# where exp overflows without the maximum subtracted; those of -110 fall as far. A SEEKER has
# SOUGHT keys of its own beside, so that every key matters to some row.
SEEKER = 3.0
ROW_SCORES = (3.0, SEEKER, 20.0, 110.0, SEEKER, -110.0)
SEEKERS = (1, 4)  # places in ROW_SCORES
SOUGHT = 3
SOUGHT_SCORE = 2.0  # by which a sought key's score exceeds log(seq)
LONGEST_QUERY = 110.0  # |query| |key| scale at the longest key
SCORE_LIMIT = 112.0  # of any score, with room for the rounding of stored queries and keys
FIRST_KEY_SHARE = 0.6  # a key's length grows along the sequence, from this share of the last one's
DIRECTION_SHARE = 0.95  # cosine between a query or key and the direction that its head shares
SMALL_ACROSS = 1e-3  # squared length across the direction below which a key cannot be sought
VALUE_MEAN, VALUE_SPREAD = 1.0, 3.0
VALUE_LIMIT = 4.02  # of any |value|, likewise
REFERENCE_ROWS = 256
DEVIATIONS = 7.0  # of a sum of rounding errors from zero; see accumulated


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
    from tile to tile (or falls, for rows of the last kind). Two rows in six also look for three
    keys each, which between them are all keys, or as many as a causal row may see: a key that is
    left out, or counted twice, then shows in a row of which it is a good part, however long the
    sequence. Values are about 1, so that a wrong denominator shows in every element.
    """
    directions = _unit(rng.standard_normal((size.kv_heads, 1, size.dim), dtype=np.float32))
    reach = math.sqrt(math.sqrt(size.dim))  # lengths multiply to score * sqrt(dim)
    growth = np.linspace(FIRST_KEY_SHARE, 1.0, size.seq, dtype=np.float32)[None, :, None]
    keys = _about(directions, size.seq, rng) * growth
    queries = _about(np.repeat(directions, size.group, axis=0), size.seq, rng)
    queries *= np.resize(np.asarray(ROW_SCORES, np.float32), size.seq)[None, :, None]
    rows = np.flatnonzero(np.isin(np.arange(size.seq) % len(ROW_SCORES), SEEKERS))
    for head in range(size.heads):
        shared = head // size.group
        sought = sought_keys(rows, size, rng)
        queries[head, rows] += _towards(keys[shared], directions[shared], sought)
    values = rng.standard_normal((size.kv_heads, size.seq, size.dim), dtype=np.float32)
    np.clip(values, -VALUE_SPREAD, VALUE_SPREAD, out=values)
    values += np.float32(VALUE_MEAN)
    stored_as = numpy_type(dtype)
    return {
        "q": (queries * np.float32(reach)).astype(stored_as, copy=False),
        "k": (keys * np.float32(reach)).astype(stored_as, copy=False),
        "v": values.astype(stored_as, copy=False),
    }


def sought_keys(rows: Array, size: AttentionSize, rng: np.random.Generator) -> Array:
    """[rows, SOUGHT]: the keys that each seeking row of a head looks for.

    Without a mask, all keys in some order. Under one, a row looks back to anywhere, or, every
    second of them, to its own key and those just before.
    """
    if not size.causal:
        return np.resize(rng.permutation(size.seq), (len(rows), SOUGHT))
    anywhere = (rng.random((len(rows), SOUGHT)) * (rows[:, None] + 1)).astype(np.int64)
    near = np.maximum(rows[:, None] - np.arange(SOUGHT), 0)
    return np.where(rows[:, None] % len(ROW_SCORES) == SEEKERS[0], anywhere, near)


def _towards(keys: Array, direction: Array, sought: Array) -> Array:
    """[rows, dim]: what gives each row's sought keys their score, and others next to none.

    It is made of what those keys have across their head's direction, and no longer than a query may
    be. A key that has nothing across, as in heads of one element, is not sought.
    """
    across = keys - (keys @ direction[0])[:, None] * direction
    lengths = np.einsum("sd,sd->s", across, across)
    score = SOUGHT_SCORE + math.log(len(keys))
    factors = np.divide(score, lengths, out=np.zeros_like(lengths), where=lengths > SMALL_ACROSS)
    towards: Array = np.einsum("rn,rnd->rd", factors[sought], across[sought])
    longest = np.linalg.norm(towards, axis=1, keepdims=True)
    towards *= np.minimum(1.0, (LONGEST_QUERY - SEEKER) / np.maximum(longest, 1.0))
    return towards


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


def accumulated(operations: float, *, rounds: bool) -> float:
    """Half-units in the last place by which a chain of so many float32 operations may be off.

    Where each is rounded to nearest, errors have no common sign: as independent ones of mean zero
    they exceed DEVIATIONS sqrt(n) with a probability of at most 2 exp(-DEVIATIONS^2 / 2) = 5e-11
    (N. J. Higham and T. Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci.
    Comput. 41, 2019, theorem 2.4). Where results are cut off all err to one side: n.
    """
    return min(operations, DEVIATIONS * math.sqrt(operations)) if rounds else operations


def absolute_error(
    *, seq: int, score_error: float, value_limit: float, value_spread: float, rounds: bool
) -> float:
    """By how much an output may be off in float32, for scores that are off by `score_error`.

    Weights that err by e of themselves at most move the result by sum p (e_j - mean e) (v_j - out):
    at most e times half the range of values, value_spread. A score's error is its weight's relative
    error. value_limit: of any |value|. rounds: whether sums round to nearest; see accumulated.
    """
    rescaled = accumulated(seq / 8, rounds=rounds) * 4 * UNIT
    added = 2 * accumulated(seq + seq / 8 + 8, rounds=rounds) * UNIT
    return value_spread * (score_error + rescaled) + value_limit * added


def _reason(rounding: str) -> str:
    return (
        "float32: a score is a chain of dim products whose partial sums are at most "
        f"{SCORE_LIMIT:g} by the lengths of queries and keys, then scaled, shifted and put into an "
        "exponential; sums of weights and of weighted values are rescaled up to seq / 8 times by "
        "exponentials good to 4 half-units in the last place, and added to up to seq times, "
        f"{rounding}; values are up to {VALUE_LIMIT:g} and {VALUE_SPREAD:g} from the middle of "
        "their range"
    )


def _in_float32(size: AttentionSize, *, rounds: bool) -> float:
    return absolute_error(
        seq=size.seq,
        score_error=(size.dim + 10) * UNIT * SCORE_LIMIT,
        value_limit=VALUE_LIMIT,
        value_spread=VALUE_SPREAD,
        rounds=rounds,
    )


def tolerance(size: AttentionSize, dtype: DType) -> Tolerance:
    """For float32 arithmetic: from the largest scores and values of make_inputs, then rounding."""
    rounding = f"all as {DEVIATIONS:g} standard deviations of as many independent roundings"
    float32 = Tolerance(
        absolute=_in_float32(size, rounds=True), relative=8 * UNIT, reason=_reason(rounding)
    )
    return stored(dtype, float32)


def tensor_core_tolerance(size: AttentionSize, dtype: DType) -> Tolerance:
    """For products on tensor cores, whose additions may cut off where float32's round.

    Weights, of which the largest is 1, are rounded to the element type, the smallest ones to half
    of its smallest number.
    """
    weights = VALUE_LIMIT * (unit_roundoff(dtype) + size.seq * smallest_subnormal(dtype) / 2)
    wider = Tolerance(
        absolute=2 * _in_float32(size, rounds=False) + weights,
        relative=8 * UNIT,
        reason=(
            f"weights rounded to {dtype} on their way into a tensor core, whose additions may cut "
            f"off and so err twice as much; otherwise {_reason('each erring to the same side')}"
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
