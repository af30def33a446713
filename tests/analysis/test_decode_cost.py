"""What a decoded token reads, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflens.analysis.decode_cost import DecodeModel, decode_cost
from rooflens.errors import UsageError

# 8e9 parameters of 2 bytes; 32 layers of 8 key heads of 128, float16.
MODEL = DecodeModel(
    weight_bytes=16_000_000_000, layers=32, kv_heads=8, dim=128, cache_item_bytes=2, batch=4
)


def test_by_hand() -> None:
    # A token: 2 x 32 x 8 x 128 x 2 bytes = 131072. 1000 tokens of 4 sequences: 524288000.
    assert MODEL.token_cache_bytes == 131_072
    cost = decode_cost(MODEL, 1000, 1e12)
    assert cost.cache_bytes == 524_288_000
    assert cost.bytes_per_token == 16_524_288_000 / 4
    assert cost.time_s == pytest.approx(0.016524288)
    assert cost.cache_share == pytest.approx(524_288 / 16_524_288)


def test_an_unknown_bandwidth_gives_no_time() -> None:
    assert decode_cost(MODEL, 1, None).time_s is None


@given(length=st.integers(min_value=1, max_value=10**6))
def test_caches_outweigh_weights_from_the_equal_length_on(length: int) -> None:
    cost = decode_cost(MODEL, length, None)
    assert (cost.cache_bytes > cost.weight_bytes) == (length > MODEL.equal_length)


@pytest.mark.parametrize("field", ["weight_bytes", "layers", "kv_heads", "dim", "batch"])
def test_nothing_may_be_zero(field: str) -> None:
    values = dict.fromkeys(
        ("weight_bytes", "layers", "kv_heads", "dim", "cache_item_bytes", "batch"), 1
    )
    with pytest.raises(UsageError, match=f"{field} must be at least 1, got 0"):
        DecodeModel(**(values | {field: 0}))


def test_a_length_of_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="length must be at least 1, got 0"):
        decode_cost(MODEL, 0, 1e12)
