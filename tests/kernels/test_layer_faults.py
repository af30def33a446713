"""At the sizes that are timed, right layers pass by a wide margin and slight faults are refused.

The projections are exact, so that the faults are planted between them: in attention's inputs and
weights. The last product adds two attended elements, each of which may have half of the limit.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from rooflens.kernels.layer import LAYER, LayerSize
from rooflens.kernels.layer.family import WEIGHTS_PER_COLUMN, pair_weights
from rooflens.kernels.rope.family import BASE
from rooflens.kernels.spec import Array
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.terms import SizeSet

PADDING = 64
FAULTS = ("narrow_queries_and_keys", "scale_of_99_percent", "attends_to_padding", "skips_a_tile")
(SEED,) = LAYER.sizes[SizeSet.SEED]
(DRAM,) = LAYER.sizes[SizeSet.DRAM]
HEADS = {SEED: range(SEED.heads), DRAM: (0, DRAM.heads - 1)}


def turned(qkv: Array, size: LayerSize, real: type[np.floating]) -> None:
    """Rope in place, with angles computed in that type."""
    step = real(-2.0 * math.log2(BASE) / size.dim)
    frequencies = np.exp2(np.arange(size.dim // 2, dtype=real) * step)
    angles = np.arange(size.seq, dtype=real)[:, None] * frequencies
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    pairs = qkv[:, : size.turned.heads]
    a, b = pairs[..., 0::2].copy(), pairs[..., 1::2].copy()
    pairs[..., 0::2], pairs[..., 1::2] = a * cosine - b * sine, a * sine + b * cosine


def attended(
    size: LayerSize, heads: Sequence[int], real: type[np.floating], fault: str = ""
) -> Array:
    """[heads, seq, dim] computed in that type."""
    inputs = LAYER.make_inputs(size, DType.FLOAT32, np.random.default_rng(1))
    qkv = (inputs["x"].astype(real) @ inputs["w_qkv"].astype(real)).reshape(size.seq, -1, size.dim)
    turned(qkv, size, real)
    if fault == "narrow_queries_and_keys":
        pairs = qkv[:, : size.turned.heads]
        pairs[...] = pairs.astype(numpy_type(DType.BFLOAT16)).astype(real)
    scale = size.attention.scale * (0.99 if fault == "scale_of_99_percent" else 1.0)
    out = np.empty((len(heads), size.seq, size.dim), dtype=real)
    for place, head in enumerate(heads):
        shared = head // size.attention.group
        keys, values = qkv[:, size.heads + shared], qkv[:, size.turned.heads + shared]
        for start in range(0, size.seq, 1024):
            rows = np.arange(start, start + 1024)
            scores = qkv[rows, head] @ keys.T * real(scale)
            if size.causal:
                scores[np.arange(size.seq) > rows[:, None]] = -np.inf
            weights = np.exp(scores)  # of scores small enough to need no maximum subtracted
            if fault == "skips_a_tile":
                weights[:, 1000:1032] = 0
            total = weights.sum(axis=1, keepdims=True)
            if fault == "attends_to_padding":  # zeros for keys and values; causal: in the last tile
                sees = rows >= size.seq - PADDING if size.causal else np.ones_like(rows, dtype=bool)
                total += PADDING * sees[:, None]
            out[place, rows] = weights @ values / total
    return out


@pytest.mark.parametrize("size", [SEED, DRAM], ids=str)
def test_right_layers_pass_and_slight_faults_do_not(size: LayerSize) -> None:
    heads = HEADS[size]
    limit = LAYER.tolerance(size, DType.FLOAT32).absolute / WEIGHTS_PER_COLUMN
    truth = attended(size, heads, np.float64)

    def error(fault: str) -> float:
        return float(np.abs(attended(size, heads, np.float32, fault) - truth).max())

    assert error("") < limit / 3
    assert {fault: error(fault) > 1.5 * limit for fault in FAULTS} == dict.fromkeys(FAULTS, True)


def test_far_turns_weigh_less_by_powers_of_two() -> None:
    size = LayerSize(seq=1025, hidden=8, heads=1, kv_heads=1, dim=4)
    # Pair 0 turns by 1024 radians, 256 times what it may: a 16th each for query and key. Pair 1
    # turns by 10.24, 2.56 times: a half each.
    np.testing.assert_array_equal(pair_weights(size), (1 / 16, 1 / 2))
    weights = LAYER.make_inputs(size, DType.FLOAT32, np.random.default_rng(1))["w_qkv"]
    largest = np.abs(weights).max(axis=0)
    by_head = largest.reshape(3, 4)
    np.testing.assert_array_equal(by_head[0], (1 / 16, 1 / 16, 1 / 2, 1 / 2))
    np.testing.assert_array_equal(by_head[1], by_head[0])
    np.testing.assert_array_equal(by_head[2], np.ones(4))  # values are not turned
