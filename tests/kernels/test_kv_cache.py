"""The kv_cache family: reference, inputs, costs by hand, and faults that must be refused."""

import numpy as np
import pytest

from rooflens.cost import Traffic
from rooflens.errors import NotSupportedError, UsageError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.kv_cache import KERNELS, KV_CACHE, KvCacheSize
from rooflens.kernels.kv_cache.family import PAGE_TOKENS, paged, paged_reference
from rooflens.kernels.spec import Array, Plan, Role
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.verify import compare
from tests.planted_kv_cache import SIZE

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


def sized(*numbers: int) -> KvCacheSize:
    batch, heads, kv_heads, length, new_tokens, max_seq, dim = numbers
    return KvCacheSize(
        batch=batch,
        heads=heads,
        kv_heads=kv_heads,
        length=length,
        new_tokens=new_tokens,
        max_seq=max_seq,
        dim=dim,
    )


def plan(variant: str, size: KvCacheSize, dtype: DType = DType.FLOAT32) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, H200)


def draw(size: KvCacheSize, dtype: DType = DType.FLOAT32) -> dict[str, Array]:
    return KV_CACHE.make_inputs(size, dtype, np.random.default_rng(1))


def step(inputs: dict[str, Array], size: KvCacheSize, fault: str = "right") -> dict[str, Array]:
    """The step element by element over flat memory, with a place for each planted fault."""
    results: dict[str, Array] = {}
    stride = size.tokens if fault == "length_as_stride" else size.max_seq
    first = 0 if fault == "overwrites" else size.length
    for name, read in (("k", "keys"), ("v", "values")):
        flat = inputs[f"{name}_cache"].copy().reshape(-1, size.dim)
        for row in range(size.batch * size.kv_heads):
            for token in range(size.new_tokens):
                new = inputs[f"{name}_new"].reshape(-1, size.new_tokens, size.dim)
                flat[row * stride + first + token] = new[row, token]
        shape = (size.batch, size.heads, size.tokens, size.dim)
        out = np.full(shape, np.nan, dtype=flat.dtype)
        for sequence in range(size.batch):
            for head in range(size.heads):
                kv_head = head % size.kv_heads if fault == "wrong_group" else head // size.group
                for token in range(size.tokens - (fault == "forgets_last")):
                    row = (sequence * size.kv_heads + kv_head) * stride + token
                    out[sequence, head, token] = flat[row]
        results[f"{name}_cache"] = flat.reshape(inputs[f"{name}_cache"].shape)
        results[read] = out
    return results


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((1, 3, 2, 4, 1, 8, 4), "kv_heads must divide heads, got 2 for 3 heads"),
        ((1, 2, 2, 8, 1, 8, 4), "max_seq 8 does not hold length 8 and new_tokens 1: 9 in all"),
    ],
)
def test_a_size_that_cannot_be_is_refused(numbers: tuple[int, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sized(*numbers)


def test_reference_by_hand() -> None:
    # One head of one element: tokens 1, 2 are there, 3 comes, room for four.
    size = sized(1, 2, 1, 2, 1, 4, 1)
    cache = np.array([1.0, 2.0, np.nan, np.nan]).reshape(1, 1, 4, 1)
    new = np.array([3.0]).reshape(1, 1, 1, 1)
    inputs = {"k_cache": cache, "v_cache": cache * 10, "k_new": new, "v_new": new * 10}
    results = KV_CACHE.reference(inputs, size)
    np.testing.assert_array_equal(results["k_cache"].ravel(), [1, 2, 3, np.nan])
    np.testing.assert_array_equal(results["keys"][0, :, :, 0], [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(results["values"][0, :, :, 0], [[10, 20, 30], [10, 20, 30]])
    np.testing.assert_array_equal(cache.ravel(), [1, 2, np.nan, np.nan])  # inputs stay


def test_reference_is_the_step_element_by_element() -> None:
    inputs = draw(SIZE)
    found, truth = step(inputs, SIZE), KV_CACHE.reference(inputs, SIZE)
    assert found.keys() == truth.keys()
    for name, array in truth.items():
        np.testing.assert_array_equal(found[name], array)


def test_pages_hold_the_cache_in_the_order_of_the_table() -> None:
    # Two sequences of up to 20 tokens: two pages each, dealt out as 3, 0 and 2, 1.
    cache = np.arange(2 * 1 * 20 * 1, dtype=np.float32).reshape(2, 1, 20, 1)
    pages = paged(cache, np.array([[3, 0], [2, 1]], dtype=np.int32))
    assert pages.shape == (4, 1, PAGE_TOKENS, 1)
    np.testing.assert_array_equal(pages[3].ravel(), np.arange(16))
    np.testing.assert_array_equal(pages[0].ravel()[:5], [16, 17, 18, 19, np.nan])
    np.testing.assert_array_equal(pages[2].ravel(), np.arange(20, 36))


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs_hide_what_is_no_token_behind_nan_and_deal_pages_in_no_order(dtype: DType) -> None:
    inputs = draw(SIZE, dtype)
    assert {inputs[name].dtype for name in inputs if name != "table"} == {numpy_type(dtype)}
    cache = inputs["k_cache"].astype(np.float64)
    assert np.isfinite(cache[:, :, : SIZE.length]).all()
    assert np.isnan(cache[:, :, SIZE.length :]).all()
    table = inputs["table"].ravel()
    assert sorted(table) == list(range(2 * 4))
    assert (table != np.arange(8)).any()


def test_costs_by_hand() -> None:
    # 2 sequences, 4 query heads on 2 key heads, 37 + 3 tokens of 10 float16: rows of 20 bytes.
    append, read = (launch.cost for launch in plan("naive", SIZE, DType.FLOAT16).launches)
    # 3 new rows for each of 2 x 2 heads, of keys and of values.
    assert append.compulsory == append.issued == Traffic(read_bytes=480, write_bytes=480)
    # 40 rows of each of 2 x 2 key heads once; 2 x 4 query heads of them written, and asked for.
    assert read.compulsory == Traffic(read_bytes=6400, write_bytes=12800)
    assert read.issued == Traffic(read_bytes=12800, write_bytes=12800)
    assert read.flops == {}


def test_costs_of_the_whole_by_hand() -> None:
    cost = plan("vectorized", SIZE, DType.FLOAT16).cost
    # The 37 old rows and 3 new ones of 4 key heads, keys and values; 3 rows into the cache.
    assert cost.compulsory == Traffic(read_bytes=6400, write_bytes=480 + 12800)
    assert cost.issued == Traffic(read_bytes=480 + 6400, write_bytes=480 + 12800)


def test_a_page_table_is_read_too() -> None:
    whole, flat = plan("paged", SIZE).cost, plan("vectorized", SIZE).cost
    # 40 tokens lie in 3 pages; an entry has 4 bytes.
    assert whole.compulsory.read_bytes - flat.compulsory.read_bytes == 2 * 3 * 4
    # The launches need entries each for itself: the append of 37..39, on page 2, one a sequence.
    needs = [launch.cost.compulsory.read_bytes for launch in plan("paged", SIZE).launches]
    flat_needs = [launch.cost.compulsory.read_bytes for launch in plan("vectorized", SIZE).launches]
    assert [one - other for one, other in zip(needs, flat_needs, strict=True)] == [2 * 4, 2 * 3 * 4]
    # An entry for each of 3 appended and 40 read rows of 4 key heads, keys and values sharing it.
    assert whole.issued.read_bytes - flat.issued.read_bytes == (3 + 40) * 4 * 4


def test_an_append_over_two_pages_needs_both_entries() -> None:
    # Tokens 15 and 16, on pages 0 and 1.
    size = sized(1, 1, 1, 15, 2, 32, 4)
    append, _ = plan("paged", size).launches
    assert append.cost.compulsory == Traffic(read_bytes=2 * 2 * 16 + 2 * 4, write_bytes=2 * 2 * 16)


@pytest.mark.parametrize(
    ("dtype", "dim", "width"),
    [
        (DType.FLOAT32, 128, "4"),
        (DType.FLOAT16, 128, "8"),
        (DType.FLOAT16, 10, "2"),
        (DType.FLOAT32, 7, "1"),
    ],
)
def test_accesses_are_as_wide_as_rows_allow(dtype: DType, dim: int, width: str) -> None:
    assert plan("paged", sized(1, 1, 1, 3, 1, 8, dim), dtype).defines["GROUP"] == width


def test_the_cache_is_updated_in_place() -> None:
    roles = {buffer.name: buffer.role for buffer in plan("paged", SIZE).buffers}
    assert roles["k_pages"] is roles["v_pages"] is Role.IN_OUT
    assert roles["table"] is Role.INPUT


def test_a_head_of_2_to_the_31_elements_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="in 32 bits"):
        plan("naive", sized(1, 1, 1, 2**24, 1, 2**25, 128))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", ["length_as_stride", "wrong_group", "forgets_last", "overwrites"])
def test_a_fault_is_refused(fault: str, dtype: DType) -> None:
    inputs = draw(SIZE, dtype)
    truth = KV_CACHE.reference(inputs, SIZE)
    limit = KV_CACHE.tolerance(SIZE, dtype)
    assert compare(step(inputs, SIZE), truth, limit).passed
    assert not compare(step(inputs, SIZE, fault), truth, limit).passed


def test_pages_in_order_are_refused() -> None:
    inputs = draw(SIZE)
    truth = paged_reference(inputs, SIZE)
    ordered = np.arange(8, dtype=np.int32).reshape(2, 4)
    found = paged_reference(inputs | {"table": ordered}, SIZE)
    assert not compare(found, truth, KV_CACHE.tolerance(SIZE, DType.FLOAT32)).passed
