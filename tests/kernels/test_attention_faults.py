"""Right attention results pass, in tiles too, and wrong ones are refused, with no card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from rooflens.kernels.attention import ATTENTION, AttentionSize
from rooflens.kernels.attention.family import tensor_core_tolerance
from rooflens.kernels.spec import Array
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.verify import compare
from tests.planted_attention import CAUSAL, FULL, REFUSED, WRONG_RESULT

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
STEP = 8
LONG = AttentionSize(heads=2, kv_heads=1, seq=1000, dim=64)
WIDE = AttentionSize(heads=2, kv_heads=2, seq=300, dim=256, causal=1)
NARROW = AttentionSize(heads=2, kv_heads=1, seq=33, dim=1)

Inputs = Mapping[str, Array]  # q, k and v in float32
Result = Callable[[Inputs, AttentionSize], Array]


def by_group(size: AttentionSize) -> Array:
    """The head of keys that each head of queries reads."""
    return np.arange(size.heads) // size.group


def visible(size: AttentionSize, keys: int, diagonal: int = 0) -> Array:
    """[seq, keys]: causal rows see keys up to `diagonal` after their own."""
    seen: Array = np.arange(keys)[None, :] <= np.arange(size.seq)[:, None] + diagonal
    return seen if size.causal else np.ones_like(seen)


def scores_of(inputs: Inputs, size: AttentionSize, heads: Array, scale: float) -> Array:
    scores: Array = inputs["q"] @ inputs["k"][heads].swapaxes(1, 2)
    return scores * np.float32(scale)


@dataclass(frozen=True, kw_only=True)
class Moves:
    """What an online softmax does where a row's maximum grows."""

    shifts: bool = True
    of_sum: bool = True
    of_output: bool = True


def online(scores: Array, values: Array, moves: Moves = Moves()) -> Array:
    """Scores [heads, seq, keys] and values [heads, keys, dim] to outputs, eight keys at a time."""
    heads, seq, keys = scores.shape
    out = np.zeros((heads, seq, values.shape[2]), dtype=np.float32)
    maximum = np.full((heads, seq, 1), -np.inf, dtype=np.float32)
    total = np.zeros_like(maximum)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for start in range(0, keys, STEP):
            part = scores[:, :, start : start + STEP]
            grown = np.maximum(maximum, part.max(axis=2, keepdims=True))
            shift = np.where(np.isinf(grown), 0, grown) if moves.shifts else np.zeros_like(grown)
            rescale = np.exp(maximum - shift) if moves.shifts else np.ones_like(grown)
            weights = np.exp(part - shift)
            total = (total * rescale if moves.of_sum else total) + weights.sum(
                axis=2, keepdims=True
            )
            out = (out * rescale if moves.of_output else out) + weights @ values[
                :, start : start + STEP
            ]
            maximum = grown
        result: Array = np.where(total == 0, 0, out / total)
    assert result.dtype == np.float32
    return result


def hidden(scores: Array, size: AttentionSize, diagonal: int = 0) -> Array:
    return np.where(visible(size, scores.shape[2], diagonal), scores, np.float32(-np.inf))


def attend(
    inputs: Inputs,
    size: AttentionSize,
    *,
    heads: Array | None = None,
    scale: float | None = None,
    diagonal: int = 0,
    moves: Moves = Moves(),
) -> Array:
    """As flash kernels do it, in float32, or with the fault that the arguments make."""
    heads = by_group(size) if heads is None else heads
    scores = scores_of(inputs, size, heads, size.scale if scale is None else scale)
    return online(hidden(scores, size, diagonal), inputs["v"][heads], moves)


def right(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size)


def at_once(inputs: Inputs, size: AttentionSize) -> Array:
    """As naive does it: all scores, then their softmax, then times V."""
    heads = by_group(size)
    scores = hidden(scores_of(inputs, size, heads, size.scale), size)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    out: Array = (weights / weights.sum(axis=2, keepdims=True)) @ inputs["v"][heads]
    return out


def no_scale(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size, scale=1.0)


def sees_next(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size, diagonal=1)


def misses_own(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size, diagonal=-1)


def wrong_group(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size, heads=np.arange(size.heads) % size.kv_heads)


def keeps_sum(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size, moves=Moves(of_sum=False))


def keeps_output(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size, moves=Moves(of_output=False))


def no_maximum(inputs: Inputs, size: AttentionSize) -> Array:
    return attend(inputs, size, moves=Moves(shifts=False))


def counts_padding(inputs: Inputs, size: AttentionSize) -> Array:
    """Keys and values up to a whole tile are taken as zeros, and seen where all is."""
    padding = ((0, 0), (0, -size.seq % STEP), (0, 0))
    padded = {name: np.pad(inputs[name], padding) for name in ("k", "v")}
    return attend({"q": inputs["q"]} | padded, size)


FAULTS: Mapping[str, Result] = {
    one.__name__: one
    for one in (
        no_scale,
        sees_next,
        misses_own,
        wrong_group,
        keeps_sum,
        keeps_output,
        no_maximum,
        counts_padding,
    )
}


def narrow_scores(inputs: Inputs, size: AttentionSize) -> Array:
    """Scores kept in float16."""
    heads = by_group(size)
    scores = scores_of(inputs, size, heads, size.scale).astype(np.float16).astype(np.float32)
    return online(hidden(scores, size), inputs["v"][heads])


def narrow_weights(inputs: Inputs, size: AttentionSize) -> Array:
    """Weights rounded to bfloat16 on their way to the values, as on tensor cores."""
    heads = by_group(size)
    scores = hidden(scores_of(inputs, size, heads, size.scale), size)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    rounded = weights.astype(numpy_type(DType.BFLOAT16)).astype(np.float32)
    out: Array = rounded @ inputs["v"][heads] / weights.sum(axis=2, keepdims=True)
    return out


def skips_last_key(inputs: Inputs, size: AttentionSize) -> Array:
    cut = {name: inputs[name][:, :-1] for name in ("k", "v")}
    return attend({"q": inputs["q"]} | cut, size)


def skips_last_column(inputs: Inputs, size: AttentionSize) -> Array:
    """The last column of heads does not enter scores."""
    return attend(
        {**inputs, "q": np.where(np.arange(size.dim) < size.dim - 1, inputs["q"], 0)}, size
    )


def passes(
    result: Result, size: AttentionSize, dtype: DType, seed: int = 1, *, tensor_core: bool = False
) -> bool:
    limit = tensor_core_tolerance if tensor_core else ATTENTION.tolerance
    inputs = ATTENTION.make_inputs(size, dtype, np.random.default_rng(seed))
    out = result({name: one.astype(np.float32) for name, one in inputs.items()}, size)
    truth = ATTENTION.reference(inputs, size)
    narrow = {"out": out.astype(numpy_type(dtype))}
    return compare(narrow, truth, limit(size, dtype)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [CAUSAL, FULL, LONG, WIDE, NARROW], ids=str)
@pytest.mark.parametrize("result", [right, at_once], ids=lambda one: one.__name__)
def test_a_right_result_passes(result: Result, size: AttentionSize, dtype: DType) -> None:
    assert passes(result, size, dtype)


def test_every_planted_kernel_has_its_form_here() -> None:
    assert FAULTS.keys() == WRONG_RESULT.keys()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("fault", "size"), REFUSED, ids=str)
def test_a_wrong_result_is_refused(fault: str, size: AttentionSize, dtype: DType) -> None:
    assert not passes(FAULTS[fault], size, dtype)


@pytest.mark.parametrize(
    ("fault", "size"), [("sees_next", FULL), ("misses_own", FULL), ("counts_padding", CAUSAL)]
)
def test_faults_that_show_at_one_kind_of_size_alone(fault: str, size: AttentionSize) -> None:
    """Why planted kernels are run causal and not."""
    assert passes(FAULTS[fault], size, DType.FLOAT32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", [skips_last_key, skips_last_column], ids=lambda one: one.__name__)
def test_what_is_left_out_shows(fault: Result, dtype: DType) -> None:
    assert not passes(fault, FULL, dtype)


@pytest.mark.parametrize("size", [CAUSAL, FULL, LONG], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_in_float16_are_refused(dtype: DType, size: AttentionSize) -> None:
    assert not passes(narrow_scores, size, dtype)


@pytest.mark.parametrize("size", [CAUSAL, FULL, LONG], ids=str)
def test_weights_in_bfloat16_are_for_tensor_cores_alone(size: AttentionSize) -> None:
    assert passes(narrow_weights, size, DType.BFLOAT16, tensor_core=True)
    assert not passes(narrow_weights, size, DType.FLOAT32)


# One head of each length that is timed.
TIMED = (
    AttentionSize(heads=1, kv_heads=1, seq=2048, dim=64),
    AttentionSize(heads=1, kv_heads=1, seq=8192, dim=128),
    AttentionSize(heads=1, kv_heads=1, seq=8192, dim=128, causal=1),
)


def without(size: AttentionSize, keys: slice, dtype: DType) -> tuple[Array, Array]:
    """Outputs in float64 of one head with those keys left out, and with none; both as stored."""
    inputs = ATTENTION.make_inputs(size, dtype, np.random.default_rng(1))
    q, k, v = (inputs[name][0].astype(np.float32) for name in ("q", "k", "v"))
    wrong, right = np.empty((2, size.seq, size.dim))
    for start in range(0, size.seq, 1024):
        rows = np.arange(start, start + 1024)
        scores = q[rows] @ k.T * np.float32(size.scale)
        if size.causal:
            scores[np.arange(size.seq) > rows[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        right[rows] = weights @ v / weights.sum(axis=1, keepdims=True)
        weights[:, keys] = 0
        total = weights.sum(axis=1, keepdims=True)
        wrong[rows] = np.divide(weights @ v, total, out=np.zeros_like(v[rows]), where=total > 0)
    return wrong, right


@pytest.mark.parametrize("keys", ["start", "middle", "end", "one"])
@pytest.mark.parametrize("size", TIMED, ids=str)
def test_a_skipped_tile_shows_at_the_sizes_that_are_timed(size: AttentionSize, keys: str) -> None:
    """The widest limit of all that is timed, that of float16 on tensor cores, refuses it."""
    first = {"start": 0, "middle": size.seq // 2, "end": size.seq - 32, "one": 1025}[keys]
    wrong, right = without(size, slice(first, first + (1 if keys == "one" else 32)), DType.FLOAT16)
    limit = tensor_core_tolerance(size, DType.FLOAT16)
    assert compare({"out": right}, {"out": right}, limit).passed
    assert not compare({"out": wrong}, {"out": right}, limit).passed
