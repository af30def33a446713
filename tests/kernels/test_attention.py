"""The attention family: sizes, inputs, reference and tolerance."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from rooflens.errors import UsageError
from rooflens.kernels.attention import ATTENTION, KERNELS, AttentionSize
from rooflens.kernels.attention.family import (
    REFERENCE_ROWS,
    ROW_SCORES,
    SCORE_LIMIT,
    VALUE_LIMIT,
    accumulated,
    sought_keys,
    tensor_core_tolerance,
)
from rooflens.kernels.spec import Array, Tolerance
from rooflens.kernels.storage import numpy_type, unit_roundoff
from rooflens.precision import DType
from rooflens.terms import SizeSet

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
GROUPED = AttentionSize(heads=6, kv_heads=2, seq=301, dim=24)
GROUPED_CAUSAL = AttentionSize(heads=6, kv_heads=2, seq=301, dim=24, causal=1)
INPUT_SIZES = [
    AttentionSize(heads=1, kv_heads=1, seq=1, dim=1),
    AttentionSize(heads=2, kv_heads=1, seq=77, dim=1),
    AttentionSize(heads=6, kv_heads=3, seq=1000, dim=7, causal=1),
    AttentionSize(heads=4, kv_heads=4, seq=2048, dim=64),
    AttentionSize(heads=1, kv_heads=1, seq=500, dim=1000),
]


def draw(size: AttentionSize, dtype: DType = DType.FLOAT32, seed: int = 1) -> dict[str, Array]:
    return ATTENTION.make_inputs(size, dtype, np.random.default_rng(seed))


def wide(size: AttentionSize, dtype: DType, seed: int = 1) -> tuple[Array, Array, Array]:
    """q, k and v as stored, in float64, a head of k and v for each head of q."""
    q, k, v = (draw(size, dtype, seed)[name].astype(np.float64) for name in ("q", "k", "v"))
    group = size.heads // size.kv_heads
    return q, np.repeat(k, group, axis=0), np.repeat(v, group, axis=0)


def test_the_ladder_and_its_dtypes() -> None:
    assert {kernel.variant: kernel.dtypes for kernel in KERNELS} == {
        "naive": DTYPES,
        "flash_v1": (DType.FLOAT32,),
        "flash_v3": DTYPES,
        "flash_v2": DTYPES,
        "flash_tensor_core": (DType.FLOAT16, DType.BFLOAT16),
    }
    assert [kernel.variant for kernel in KERNELS] == [
        "naive",
        "flash_v1",
        "flash_v3",
        "flash_v2",
        "flash_tensor_core",
    ]


@pytest.mark.parametrize(("heads", "kv_heads"), [(3, 2), (4, 3), (1, 2), (8, 16)])
def test_heads_of_keys_must_divide_heads(heads: int, kv_heads: int) -> None:
    with pytest.raises(UsageError, match=f"divide heads, got {kv_heads} for {heads} heads"):
        AttentionSize(heads=heads, kv_heads=kv_heads, seq=8, dim=8)


@pytest.mark.parametrize("field", ["heads", "kv_heads", "seq", "dim"])
@pytest.mark.parametrize("value", [0, -1, 2**31, True, 1.0])
def test_sizes_that_are_none(field: str, value: object) -> None:
    fields: dict[str, object] = {"heads": 2, "kv_heads": 1, "seq": 8, "dim": 8, field: value}
    with pytest.raises(UsageError, match=f"size {field} must be"):
        AttentionSize(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("causal", [2, -1])
def test_causal_is_a_flag(causal: int) -> None:
    with pytest.raises(UsageError, match="size causal is 0 or 1"):
        AttentionSize(heads=1, kv_heads=1, seq=8, dim=8, causal=causal)


def test_what_a_size_says() -> None:
    size = AttentionSize(heads=6, kv_heads=2, seq=5, dim=64)
    assert (size.causal, size.group, size.scale) == (0, 3, 0.125)
    assert str(size) == "heads=6,kv_heads=2,seq=5,dim=64,causal=0"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", INPUT_SIZES, ids=str)
def test_inputs_stay_within_what_the_tolerance_is_made_from(
    size: AttentionSize, dtype: DType
) -> None:
    inputs = draw(size, dtype)
    assert {name: one.shape for name, one in inputs.items()} == {
        "q": (size.heads, size.seq, size.dim),
        "k": (size.kv_heads, size.seq, size.dim),
        "v": (size.kv_heads, size.seq, size.dim),
    }
    assert {one.dtype for one in inputs.values()} == {numpy_type(dtype)}
    q, k, v = wide(size, dtype)
    lengths = np.linalg.norm(q, axis=2).max() * np.linalg.norm(k, axis=2).max()
    assert lengths / math.sqrt(size.dim) <= SCORE_LIMIT == 112.0  # so is any sum of products
    assert np.abs(v).max() <= VALUE_LIMIT == 4.02
    assert v.min() >= -2.02  # 3 from the middle of the range


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", INPUT_SIZES[1:], ids=str)
def test_lengths_of_queries_and_keys(size: AttentionSize, dtype: DType) -> None:
    q, k, _ = wide(size, dtype)
    k_lengths = np.linalg.norm(k, axis=2)
    last = np.linalg.norm(q, axis=2) * k_lengths[:, -1:] / math.sqrt(size.dim)
    kinds = np.resize(np.abs(ROW_SCORES), size.seq)
    plain = ~seeking(size)
    rounding = 3 * unit_roundoff(dtype) + 1e-5
    np.testing.assert_allclose(
        last[:, plain], np.broadcast_to(kinds[plain], (size.heads, plain.sum())), rtol=rounding
    )
    assert last.max() <= 110 * (1 + rounding)
    growth = np.broadcast_to(np.linspace(0.6, 1.0, size.seq), k_lengths.shape)
    np.testing.assert_allclose(k_lengths / k_lengths[:, -1:], growth, rtol=rounding)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", INPUT_SIZES[1:], ids=str)
def test_maxima_climb_past_what_exp_holds_or_fall_as_far(size: AttentionSize, dtype: DType) -> None:
    q, k, _ = wide(size, dtype)
    scores = q @ k.swapaxes(1, 2) / math.sqrt(size.dim)
    for kind, sign in ((0, 1), (2, 1), (3, 1), (5, -1)):
        assert (sign * scores[:, kind::6] > 0).all()
    climbing = scores[:, 3::6]
    # 112.0 where all lengths are at their limits, times a cosine of at least 1 - 2 * 0.329^2.
    assert climbing[:, :, -1].min() > 85
    assert climbing.max() > 89  # exp(89) is over 3.4e38
    assert scores[:, 5::6].min() < -89
    early, late = climbing[:, :, : size.seq // 8], climbing[:, :, size.seq * 7 // 8 :]
    assert (late.max(axis=2) > early.max(axis=2) + 15).all()


def seeking(size: AttentionSize) -> Array:
    """Which rows seek keys."""
    return np.isin(np.arange(size.seq) % 6, (1, 4))


def test_without_a_mask_every_key_is_sought() -> None:
    size = AttentionSize(heads=2, kv_heads=1, seq=300, dim=64)
    rows = np.flatnonzero(seeking(size))
    sought = sought_keys(rows, size, np.random.default_rng(1))
    assert sought.shape == (100, 3)
    assert set(sought.reshape(-1)) == set(range(300))


def test_under_a_mask_rows_seek_what_they_see_near_and_far() -> None:
    size = AttentionSize(heads=1, kv_heads=1, seq=600, dim=64, causal=1)
    rows = np.flatnonzero(seeking(size))
    sought = sought_keys(rows, size, np.random.default_rng(1))
    assert (sought >= 0).all()
    assert (sought <= rows[:, None]).all()
    assert (sought[rows == 100] == (100, 99, 98)).all()
    far = rows % 6 == 1
    assert (rows[far, None] - sought[far]).max() > 500
    assert set(sought.reshape(-1) // 8) == set(range(75))  # of tiles of eight, every one


@pytest.mark.parametrize("causal", [0, 1])
def test_a_sought_key_is_a_good_part_of_its_row(causal: int) -> None:
    size = AttentionSize(heads=1, kv_heads=1, seq=1024, dim=64, causal=causal)
    q, k, _ = (one[0] for one in wide(size, DType.FLOAT32))
    scores = q @ k.T / math.sqrt(size.dim)
    if causal:
        scores[np.triu_indices(size.seq, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = (weights / weights.sum(axis=1, keepdims=True))[seeking(size)]
    largest = np.sort(shares, axis=1)[:, -3:]
    assert np.median(largest) > 0.02
    # A key that no row sought would have some 1/1024 of every row.
    assert np.quantile(shares.max(axis=0), 0.05) > 2 / 1024


@pytest.mark.parametrize("size", INPUT_SIZES[2:], ids=str)
def test_values_are_about_one(size: AttentionSize) -> None:
    v = draw(size)["v"].astype(np.float64)
    assert abs(v.mean() - 1.0) < 4 / math.sqrt(v.size)
    assert abs(v.std() - 1.0) < 0.05


def test_inputs_follow_their_seed() -> None:
    for name in ("q", "k", "v"):
        np.testing.assert_array_equal(draw(GROUPED, seed=5)[name], draw(GROUPED, seed=5)[name])
        assert not np.array_equal(draw(GROUPED, seed=5)[name], draw(GROUPED, seed=6)[name])


@pytest.mark.parametrize(("causal", "first"), [(0, 7.0), (1, 4.0)])
def test_reference_by_hand(causal: int, first: float) -> None:
    size = AttentionSize(heads=2, kv_heads=1, seq=2, dim=1, causal=causal)
    inputs = {
        "q": np.array([[[1.0], [1.0]], [[1.0], [2.0]]]),
        "k": np.array([[[0.0], [math.log(3.0)]]]),
        "v": np.array([[[4.0], [8.0]]]),
    }
    # Weights 1 and 3, and in the last row 1 and 9; causal first rows see the first value alone.
    expected = [[[first], [7.0]], [[first], [7.6]]]
    np.testing.assert_allclose(ATTENTION.reference(inputs, size)["out"], expected, rtol=1e-15)


def test_reference_divides_scores_by_the_root_of_the_width() -> None:
    size = AttentionSize(heads=1, kv_heads=1, seq=2, dim=4)
    inputs = {
        "q": np.full((1, 2, 4), 1.0),
        "k": np.array([[[0.0] * 4, [math.log(3.0) / 2] * 4]]),  # 4 ln 3 / 2, by 2: ln 3
        "v": np.array([[[4.0, 0.0, 0.0, 1.0], [8.0, 0.0, 4.0, 1.0]]]),
    }
    expected = np.broadcast_to([7.0, 0.0, 3.0, 1.0], (1, 2, 4))
    np.testing.assert_allclose(ATTENTION.reference(inputs, size)["out"], expected, rtol=1e-15)


def test_reference_reads_neighbouring_heads_keys() -> None:
    """Six heads of queries, two of keys: three neighbours share one."""
    size = AttentionSize(heads=6, kv_heads=2, seq=1, dim=1)
    inputs = {
        "q": np.ones((6, 1, 1)),
        "k": np.ones((2, 1, 1)),
        "v": np.array([[[10.0]], [[20.0]]]),
    }
    out = ATTENTION.reference(inputs, size)["out"].reshape(-1)
    np.testing.assert_array_equal(out, [10.0, 10.0, 10.0, 20.0, 20.0, 20.0])


@pytest.mark.parametrize("size", [GROUPED, GROUPED_CAUSAL], ids=str)
def test_reference_is_that_of_slow_loops(size: AttentionSize) -> None:
    assert size.seq > REFERENCE_ROWS  # more than one block of rows, the last one short
    inputs = draw(size)
    q, k, v = (inputs[name].astype(np.float64) for name in ("q", "k", "v"))
    expected = np.zeros(q.shape)
    for head in range(size.heads):
        shared = head // 3
        for row in range(size.seq):
            visible = range(row + 1 if size.causal else size.seq)
            scores = [float(q[head, row] @ k[shared, key]) / math.sqrt(24) for key in visible]
            weights = [math.exp(score - max(scores)) for score in scores]
            total = sum(weights)
            for key, weight in zip(visible, weights, strict=True):
                expected[head, row] += weight / total * v[shared, key]
    out = ATTENTION.reference(inputs, size)["out"]
    assert out.dtype == np.float64
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [GROUPED, GROUPED_CAUSAL], ids=str)
def test_reference_is_that_of_pytorch(size: AttentionSize, dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    inputs = draw(size, dtype)
    q, k, v = (torch.from_numpy(inputs[name].astype(np.float64))[None] for name in ("q", "k", "v"))
    expected = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=bool(size.causal), enable_gqa=True
    )
    out = ATTENTION.reference(inputs, size)["out"]
    np.testing.assert_allclose(out, expected[0].numpy(), rtol=0, atol=1e-12)


def test_tolerance_by_hand() -> None:
    size = AttentionSize(heads=1, kv_heads=1, seq=2048, dim=64)
    float32 = ATTENTION.tolerance(size, DType.FLOAT32)
    # In half-units of 2^-24: scores 74 * 112 = 8288 and 7 sqrt(256) rescalings of 4 = 448, by 3;
    # and 2 * 7 sqrt(2048 + 256 + 8), by 4.02.
    added = 14 * math.sqrt(2312)
    assert float32.absolute == pytest.approx((3 * 8736 + 4.02 * added) / 2**24, rel=1e-12)
    assert float32.relative == 8 / 2**24
    # In a narrow type the result is rounded once more.
    float16 = ATTENTION.tolerance(size, DType.FLOAT16)
    expected = float32.absolute * (1 + 2.0**-11) + 2.0**-25
    assert float16.absolute == pytest.approx(expected, rel=1e-12)


def test_tolerance_of_tensor_cores_by_hand() -> None:
    size = AttentionSize(heads=1, kv_heads=1, seq=2048, dim=64)
    # As above with 256 rescalings and 2312 additions that all err to one side, and twice.
    twice = 2 * (3 * (8288 + 1024) + 4.02 * 4624) / 2**24
    float16 = tensor_core_tolerance(size, DType.FLOAT16)
    # Weights by 2^-11 of the largest and 2048 halves of 2^-24; then the result's own.
    before = twice + 4.02 * (2.0**-11 + 2.0**-14)
    assert float16.absolute == pytest.approx(before * (1 + 2.0**-11) + 2.0**-25, rel=1e-12)
    assert float16.relative == pytest.approx(2.0**-11 + 2.0**-21 * (1 + 2.0**-11), rel=1e-12)
    bfloat16 = tensor_core_tolerance(size, DType.BFLOAT16)
    before = twice + 4.02 * 2.0**-8
    assert bfloat16.absolute == pytest.approx(before * (1 + 2.0**-8), rel=1e-12)
    assert bfloat16.relative == pytest.approx(2.0**-8 + 2.0**-21 * (1 + 2.0**-8), rel=1e-12)


def test_tensor_cores_alone_have_the_wider_tolerance() -> None:
    own = {kernel.variant for kernel in KERNELS if kernel.allowed is not ATTENTION.tolerance}
    assert own == {"flash_tensor_core"}


def test_roundings_of_a_long_sum_stay_under_what_is_allowed_for_them() -> None:
    rng = np.random.default_rng(1)
    for count in (10, 100, 10_000):
        terms = rng.random((200, count), dtype=np.float32)
        found = np.cumsum(terms, axis=1, dtype=np.float32)[:, -1]
        exact = terms.sum(axis=1, dtype=np.float64)
        off = np.abs(found - exact).max() / exact.mean() * 2**24
        assert off < accumulated(count, rounds=True)
        assert off > accumulated(count, rounds=True) / 100
    assert accumulated(40, rounds=True) == 40  # fewer than 49 operations: all to one side
    assert accumulated(10_000, rounds=True) == 700
    assert accumulated(10_000, rounds=False) == 10_000


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("limit", [ATTENTION.tolerance, tensor_core_tolerance])
def test_tolerance_grows_with_what_is_summed(
    limit: Callable[[AttentionSize, DType], Tolerance], dtype: DType
) -> None:
    small, long, deep = (
        limit(AttentionSize(heads=1, kv_heads=1, seq=seq, dim=dim), dtype)
        for seq, dim in ((64, 16), (4096, 16), (64, 256))
    )
    assert small.absolute < min(long.absolute, deep.absolute)
    assert small.relative == long.relative == deep.relative
    assert ("tensor core" in small.reason) == (limit is tensor_core_tolerance)


def test_default_sizes() -> None:
    assert [str(size) for size in ATTENTION.sizes[SizeSet.SEED]] == [
        "heads=4,kv_heads=4,seq=2048,dim=64,causal=0"
    ]
    assert [str(size) for size in ATTENTION.sizes[SizeSet.DRAM]] == [
        "heads=32,kv_heads=32,seq=2048,dim=128,causal=0",
        "heads=32,kv_heads=32,seq=8192,dim=128,causal=0",
        "heads=32,kv_heads=8,seq=8192,dim=128,causal=1",
    ]
