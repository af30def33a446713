"""The gemv family: reference, inputs, costs by hand, and faults that must be refused."""

from collections.abc import Callable

import numpy as np
import pytest

from rooflens.hardware import LaunchLimits
from rooflens.kernels.gemv import GEMV, KERNELS, GemvSize
from rooflens.kernels.spec import Array, Plan
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType, Precision
from rooflens.profiler.verify import compare
from rooflens.terms import SizeSet

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
SEED = GemvSize(m=4096, k=4096)
SIZE = GemvSize(m=9, k=1023)
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
VARIANTS = [kernel.variant for kernel in KERNELS]


def plan(variant: str, size: GemvSize, dtype: DType = DType.FLOAT32) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, H200)


def draw(size: GemvSize, dtype: DType = DType.FLOAT32, seed: int = 1) -> dict[str, Array]:
    return GEMV.make_inputs(size, dtype, np.random.default_rng(seed))


def test_the_ladder() -> None:
    assert VARIANTS == ["naive", "warp_per_row", "block_per_row", "vectorized"]


def test_reference_by_hand() -> None:
    inputs = {"a": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]]), "x": np.array([7.0, 8.0, 9.0])}
    y = GEMV.reference(inputs, GemvSize(m=2, k=3))["y"]
    np.testing.assert_array_equal(y, [7 + 16 + 27, 28 + 40 - 54])


def test_reference_in_runs_is_reference_at_once() -> None:
    rng = np.random.default_rng(0)
    a, x = rng.standard_normal((5, 2_000_001)), rng.standard_normal(2_000_001)
    found = GEMV.reference({"a": a, "x": x}, GemvSize(m=5, k=2_000_001))["y"]
    np.testing.assert_allclose(found, [row @ x for row in a], rtol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reference_is_that_of_pytorch(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    inputs = draw(SIZE, dtype)
    a, x = (torch.from_numpy(inputs[name].astype(np.float64)) for name in ("a", "x"))
    np.testing.assert_array_equal(GEMV.reference(inputs, SIZE)["y"], torch.mv(a, x).numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs(dtype: DType) -> None:
    inputs = draw(SIZE, dtype)
    assert {name: one.shape for name, one in inputs.items()} == {"a": (9, 1023), "x": (1023,)}
    assert {one.dtype for one in inputs.values()} == {numpy_type(dtype)}
    for one in inputs.values():
        assert (one.astype(np.float64) != 0).all()  # nothing can be left out unseen
    largest = np.abs(GEMV.reference(inputs, SIZE)["y"]).max()
    assert 0 < largest < 65504  # float16 holds every result


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 33, 1023, 16_384, 100_003])
def test_sums_are_exact_in_float32_in_any_order(k: int, dtype: DType) -> None:
    size = GemvSize(m=3, k=k)
    inputs = draw(size, dtype)
    products = inputs["a"].astype(np.float32) * inputs["x"].astype(np.float32)
    truth = GEMV.reference(inputs, size)["y"]
    shuffled = np.random.default_rng(0).permutation(products, axis=1)
    for one in (products, products[:, ::-1], shuffled, np.sort(products, axis=1)):
        # One after another, as a single thread would.
        chain = np.add.accumulate(one, axis=1, dtype=np.float32)[:, -1]
        np.testing.assert_array_equal(chain.astype(np.float64), truth)


def test_tolerance() -> None:
    exact = GEMV.tolerance(SEED, DType.FLOAT32)
    assert (exact.absolute, exact.relative) == (0.0, 0.0)
    assert GEMV.tolerance(SEED, DType.FLOAT16).relative == 2.0**-11
    assert GEMV.tolerance(SEED, DType.BFLOAT16).relative == 2.0**-8


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("dtype", "item"), [(DType.FLOAT32, 4), (DType.BFLOAT16, 2)])
def test_costs_by_hand(variant: str, dtype: DType, item: int) -> None:
    whole = plan(variant, SEED, dtype)
    matrix, vector = 16_777_216, 4096  # elements
    assert whole.cost.flops == {Precision.FP32: 33_554_432}
    assert whole.cost.special_function_ops == 0
    assert whole.cost.compulsory.read_bytes == (matrix + vector) * item
    assert whole.cost.compulsory.write_bytes == vector * item
    # x is asked for once by each warp of 32 rows (128 of them), by each row's warp or block, and by
    # each block of four rows (1024).
    times = {"naive": 128, "warp_per_row": 4096, "block_per_row": 4096, "vectorized": 1024}
    assert whole.cost.issued.read_bytes == (matrix + times[variant] * vector) * item
    assert whole.cost.issued.write_bytes == vector * item
    assert [launch.cost for launch in whole.launches] == [whole.cost]
    assert whole.working_set_bytes == (matrix + 2 * vector) * item


@pytest.mark.parametrize("m", [1, 31, 128, 129, 4097])
def test_every_row_has_a_thread_a_warp_or_a_block(m: int) -> None:
    size = GemvSize(m=m, k=3)
    blocks = {one: plan(one, size).launches[0].grid[0] for one in VARIANTS}
    assert (blocks["naive"] - 1) * 128 < m <= blocks["naive"] * 128
    assert (blocks["warp_per_row"] - 1) * 8 < m <= blocks["warp_per_row"] * 8
    assert blocks["block_per_row"] == m
    assert blocks["vectorized"] * int(plan("vectorized", size).defines["ROWS"]) == m


@pytest.mark.parametrize(
    ("m", "rows"),
    [
        (4096, 4),  # 1024 blocks
        (2112, 4),  # 528 blocks, four for each of 132 multiprocessors
        (2108, 2),  # 527 would be too few
        (4098, 2),  # no multiple of four
        (1056, 2),
        (1054, 1),
        (4097, 1),
        (1, 1),
    ],
)
def test_rows_share_a_block_where_blocks_abound(m: int, rows: int) -> None:
    defines = plan("vectorized", GemvSize(m=m, k=64)).defines
    assert defines["ROWS"] == str(rows)
    assert int(defines["ACCESSES"]) * rows == 8


@pytest.mark.parametrize(
    ("k", "dtype", "group", "threads"),
    [
        (4096, DType.FLOAT32, 4, 256),
        (4096, DType.FLOAT16, 8, 256),
        (4094, DType.FLOAT32, 2, 256),
        (4092, DType.BFLOAT16, 4, 256),
        (4095, DType.FLOAT32, 1, 256),
        (512, DType.FLOAT32, 4, 128),
        (516, DType.FLOAT32, 4, 256),  # 129 accesses
        (4, DType.FLOAT32, 4, 32),
        (1, DType.FLOAT32, 1, 32),
    ],
)
def test_accesses_are_as_wide_as_rows_allow(k: int, dtype: DType, group: int, threads: int) -> None:
    whole = plan("vectorized", GemvSize(m=5, k=k), dtype)
    assert whole.defines["GROUP"] == str(group)
    assert whole.defines["BLOCK_THREADS"] == str(threads)
    assert whole.launches[0].block == (threads, 1, 1)


def test_default_sizes_and_that_caches_do_not_hold_the_large_one() -> None:
    assert GEMV.sizes[SizeSet.SEED] == (SEED,)
    (large,) = GEMV.sizes[SizeSet.DRAM]
    assert large == GemvSize(m=16_384, k=16_384)
    assert plan("naive", large).buffers[0].size_bytes == 2**30


def right(a: Array, x: Array) -> Array:
    """float32 from beginning to end."""
    return np.asarray(np.add.accumulate(a * x, axis=1, dtype=np.float32)[:, -1])


def lane0_writers(a: Array, x: Array) -> Array:
    """What the last warp of a block of 256 has of each row, as if it alone had summed."""
    lanes = np.arange(a.shape[1]) % 256 >= 224
    return right(a[:, lanes], x[lanes])


def skips_tail(a: Array, x: Array) -> Array:
    whole = a.shape[1] // 4 * 4
    return right(a[:, :whole], x[:whole])


def reads_past_row(a: Array, x: Array) -> Array:
    """The next row's first element, times one behind x that happens to be finite."""
    y = right(a, x)
    y[:-1] += a[1:, 0] * x[0]
    return y


def transposed(a: Array, x: Array) -> Array:
    return right(a.reshape(a.shape[::-1]).T, x)


def rounds_elements(a: Array, x: Array) -> Array:
    """Of the next narrower format: TF32 or bfloat16 for float32, bfloat16 for float16."""
    return right(a.astype(numpy_type(DType.BFLOAT16)).astype(np.float32), x)


def narrow_sum(a: Array, x: Array) -> Array:
    """The sum kept in float16 from one product to the next."""
    total = np.zeros(a.shape[0], dtype=np.float16)
    for column in (a * x).T:
        total = (total.astype(np.float32) + column).astype(np.float16)
    return total.astype(np.float32)


def takes_one_twice(a: Array, x: Array) -> Array:
    y = right(a, x)
    y[-1] += a[-1, -1] * x[-1]
    return y


Result = Callable[[Array, Array], Array]
FAULTS: tuple[Result, ...] = (
    lane0_writers,
    skips_tail,
    reads_past_row,
    transposed,
    narrow_sum,
)
FAULTS_OF_FLOAT32: tuple[Result, ...] = (rounds_elements, takes_one_twice)


def passes(result: Result, size: GemvSize, dtype: DType) -> bool:
    inputs = draw(size, dtype)
    out = result(*(inputs[name].astype(np.float32) for name in ("a", "x")))
    narrow = out.astype(numpy_type(dtype))
    truth = GEMV.reference(inputs, size)
    return compare({"y": narrow}, truth, GEMV.tolerance(size, dtype)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [GemvSize(m=1, k=1), SIZE, GemvSize(m=2, k=16_384)], ids=str)
def test_a_right_result_passes(size: GemvSize, dtype: DType) -> None:
    assert passes(right, size, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_a_wrong_result_is_refused(fault: Result, dtype: DType) -> None:
    assert not passes(fault, SIZE, dtype)


@pytest.mark.parametrize("fault", FAULTS_OF_FLOAT32, ids=lambda one: one.__name__)
@pytest.mark.parametrize("size", [SIZE, GemvSize(m=3, k=16_384)], ids=str)
def test_float32_forgives_not_one_product(fault: Result, size: GemvSize) -> None:
    assert not passes(fault, size, DType.FLOAT32)
