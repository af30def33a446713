"""The gemm family: reference, inputs, plans and costs by hand."""

import numpy as np
import pytest

from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.gemm import GEMM, KERNELS, GemmSize
from rooflens.kernels.spec import Array, Plan
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType, Precision
from rooflens.terms import SizeSet

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
SEED = GemmSize(m=4096, n=4096, k=4096)
ODD = GemmSize(m=200, n=300, k=10)
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
VARIANTS = [kernel.variant for kernel in KERNELS]
TILED = ("register_tiled", "tensor_core")


def plan(
    variant: str, size: GemmSize, dtype: DType = DType.FLOAT16, limits: LaunchLimits = H200
) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, limits)


def draw(size: GemmSize, dtype: DType = DType.FLOAT32, seed: int = 1) -> dict[str, Array]:
    return GEMM.make_inputs(size, dtype, np.random.default_rng(seed))


def test_the_ladder_and_its_dtypes() -> None:
    assert VARIANTS == ["naive", "shared", "register_tiled", "tensor_core"]
    assert [kernel.dtypes for kernel in KERNELS] == [*[DTYPES] * 3, DTYPES[1:]]


def test_reference_by_hand() -> None:
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]])
    b = np.array([[7.0, 1.0], [8.0, 0.0], [9.0, -1.0]])
    c = GEMM.reference({"a": a, "b": b}, GemmSize(m=2, n=2, k=3))["c"]
    np.testing.assert_array_equal(c, [[7 + 16 + 27, 1 - 3], [28 + 40 - 54, 4 + 6]])


def test_nan_and_infinity_are_as_in_a_sum() -> None:
    a = np.array([[np.inf, 1.0], [1.0, 2.0], [np.nan, 0.0]])
    b = np.array([[1.0, 1.0], [-np.inf, 1.0]])
    c = GEMM.reference({"a": a, "b": b}, GemmSize(m=3, n=2, k=2))["c"]
    np.testing.assert_array_equal(c, [[np.nan, np.inf], [-np.inf, 3.0], [np.nan, np.nan]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_reference_is_that_of_pytorch(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    size = GemmSize(m=17, n=33, k=129)
    inputs = draw(size, dtype)
    a, b = (torch.from_numpy(inputs[name].astype(np.float64)) for name in ("a", "b"))
    np.testing.assert_array_equal(GEMM.reference(inputs, size)["c"], torch.mm(a, b).numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 2, 33, 1023, 8192, 100_003])
def test_inputs_are_whole_numbers_whose_sums_float32_holds(k: int, dtype: DType) -> None:
    size = GemmSize(m=3, n=4, k=k)
    inputs = draw(size, dtype)
    assert {name: one.shape for name, one in inputs.items()} == {"a": (3, k), "b": (k, 4)}
    assert {one.dtype for one in inputs.values()} == {numpy_type(dtype)}
    a, b = (inputs[name].astype(np.float64) for name in ("a", "b"))
    for one in (a, b):
        np.testing.assert_array_equal(one * 32, np.round(one * 32))
        assert (one != 0).all()  # nothing can be left out unseen
    # In whole multiples of 1/1024 no sum, of whichever products, is over 2^24.
    assert (np.abs(a) @ np.abs(b)).max() <= 2**24 / 1024


def test_a_sum_too_long_for_small_whole_numbers_is_thinned_out() -> None:
    size = GemmSize(m=1, n=1, k=2**23 + 2)
    a, b = (draw(size)[name].astype(np.float64).reshape(-1) for name in ("a", "b"))
    assert np.abs(a) @ np.abs(b) <= 2**24 / 1024
    assert not a[1::2].any()
    assert not b[1::2].any()
    assert a[::2].all()
    assert b[::2].all()


def test_inputs_follow_their_seed() -> None:
    np.testing.assert_array_equal(draw(ODD, seed=5)["a"], draw(ODD, seed=5)["a"])
    assert not np.array_equal(draw(ODD, seed=5)["b"], draw(ODD, seed=6)["b"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [33, 1023, 16_384])
def test_sums_are_exact_in_float32_in_any_order(k: int, dtype: DType) -> None:
    size = GemmSize(m=2, n=3, k=k)
    inputs = draw(size, dtype)
    a, b = (inputs[name].astype(np.float32) for name in ("a", "b"))
    products = a[:, :, None] * b[None, :, :]
    truth = GEMM.reference(inputs, size)["c"]
    shuffled = np.random.default_rng(0).permutation(products, axis=1)
    for one in (products, products[:, ::-1], shuffled, np.sort(products, axis=1)):
        # One after another, as a single thread would.
        chain = np.add.accumulate(one, axis=1, dtype=np.float32)[:, -1]
        np.testing.assert_array_equal(chain.astype(np.float64), truth)


def cut(values: Array, bits: int) -> Array:
    """Each column's values without what lies below `bits` bits of the largest of them."""
    _, exponents = np.frexp(np.abs(values).max(axis=0))
    last = np.ldexp(1.0, exponents - bits)
    return np.asarray(np.trunc(values / last) * last)


def tensor_unit(products: Array, bits: int) -> Array:
    """Sums of [k, ...] as a tensor unit takes them: sixteen and the sum so far, aligned and cut."""
    total = np.zeros(products.shape[1:])
    for start in range(0, products.shape[0], 16):
        addends = np.concatenate((total[None], products[start : start + 16]))
        total = cut(cut(addends, bits).sum(axis=0)[None], 24)[0]
    return total


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("k", [1, 33, 1023, 8192])
def test_a_tensor_unit_that_keeps_24_bits_loses_nothing(k: int, dtype: DType) -> None:
    size = GemmSize(m=3, n=4, k=k)
    inputs = draw(size, dtype)
    a, b = (inputs[name].astype(np.float64) for name in ("a", "b"))
    products = a.T[:, :, None] * b[:, None, :]
    truth = GEMM.reference(inputs, size)["c"]
    np.testing.assert_array_equal(tensor_unit(products, 24), truth)
    # The largest positive products first is the worst order: the sum is then largest.
    np.testing.assert_array_equal(tensor_unit(-np.sort(-products, axis=0), 24), truth)
    if k >= 1023:
        assert (tensor_unit(products, 14) != truth).any()


def test_tolerance() -> None:
    exact = GEMM.tolerance(SEED, DType.FLOAT32)
    assert (exact.absolute, exact.relative) == (0.0, 0.0)
    assert GEMM.tolerance(SEED, DType.FLOAT16).relative == 2.0**-11
    assert GEMM.tolerance(SEED, DType.BFLOAT16).relative == 2.0**-8


@pytest.mark.parametrize(
    ("variant", "dtype"), [(kernel.variant, dtype) for kernel in KERNELS for dtype in kernel.dtypes]
)
def test_costs_of_the_definition_by_hand(variant: str, dtype: DType) -> None:
    whole = plan(variant, SEED, dtype)
    item = 4 if dtype is DType.FLOAT32 else 2
    precision = Precision.FP32
    if variant == "tensor_core":
        precision = {
            DType.FLOAT16: Precision.FP16_TENSOR_FP32_ACC,
            DType.BFLOAT16: Precision.BF16_TENSOR_FP32_ACC,
        }[dtype]
    assert whole.cost.flops == {precision: 137_438_953_472}
    assert whole.cost.special_function_ops == 0
    assert whole.cost.compulsory.read_bytes == 2 * 16_777_216 * item
    assert whole.cost.compulsory.write_bytes == 16_777_216 * item
    assert whole.cost.issued.write_bytes == 16_777_216 * item
    assert [launch.cost for launch in whole.launches] == [whole.cost]
    assert whole.working_set_bytes == 3 * 16_777_216 * item


def test_costs_of_an_odd_size_by_hand() -> None:
    cost = plan("shared", ODD, DType.FLOAT32).cost
    assert cost.flops == {Precision.FP32: 1_200_000}
    assert cost.compulsory.read_bytes == (2000 + 3000) * 4
    assert cost.compulsory.write_bytes == 60_000 * 4


@pytest.mark.parametrize(
    ("variant", "size", "elements"),
    [
        # A once for each of 128 warps across, B once for each of 4096 rows.
        ("naive", SEED, (128 + 4096) * 16_777_216),
        ("shared", SEED, (256 + 256) * 16_777_216),  # tiles of 16
        ("register_tiled", SEED, (32 + 32) * 16_777_216),  # of 128
        ("tensor_core", SEED, (32 + 32) * 16_777_216),
        # 64 tiles of 128 would leave multiprocessors idle: 16 x 16 tiles of 64.
        ("tensor_core", GemmSize(m=1024, n=1024, k=1024), (16 + 16) * 1_048_576),
        ("naive", ODD, 10 * 2000 + 200 * 3000),
        ("shared", ODD, 19 * 2000 + 13 * 3000),
        ("register_tiled", ODD, 5 * 2000 + 4 * 3000),
        ("tensor_core", ODD, 5 * 2000 + 4 * 3000),
    ],
    ids=str,
)
def test_issued_bytes_by_hand(variant: str, size: GemmSize, elements: int) -> None:
    assert plan(variant, size).cost.issued.read_bytes == elements * 2


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 129), (33, 1), (128, 128), (4097, 4095)])
def test_every_element_has_a_thread(variant: str, m: int, n: int) -> None:
    whole = plan(variant, GemmSize(m=m, n=n, k=3))
    (launch,) = whole.launches
    rows, cols = {"naive": (8, 32), "shared": (16, 16)}.get(variant, (0, 0))
    if variant in TILED:
        rows, cols = int(whole.defines["TILE_M"]), int(whole.defines["TILE_N"])
    down, across = (m + rows - 1) // rows, (n + cols - 1) // cols
    assert launch.grid == (down * across, 1, 1)


@pytest.mark.parametrize(
    ("m", "n", "tile"),
    [
        (4096, 4096, 128),
        (128 * 11, 128 * 12, 128),  # 132 tiles, one for each multiprocessor
        (128 * 11, 128 * 11, 64),
        (8448, 8448, 128),
        (1, 1, 64),
    ],
)
def test_tiles_are_large_where_there_are_enough(m: int, n: int, tile: int) -> None:
    for variant, threads in (("register_tiled", tile * tile // 64), ("tensor_core", 2 * tile)):
        whole = plan(variant, GemmSize(m=m, n=n, k=8))
        assert whole.defines["TILE_M"] == whole.defines["TILE_N"] == str(tile)
        assert whole.launches[0].block == (threads, 1, 1)


@pytest.mark.parametrize(
    ("variant", "n", "k", "aligned"),
    [
        ("register_tiled", 4, 8, ("1", "1")),
        ("register_tiled", 6, 8, ("1", "0")),
        ("register_tiled", 8, 9, ("0", "1")),
        ("tensor_core", 8, 16, ("1", "1")),
        ("tensor_core", 12, 16, ("1", "0")),
        ("tensor_core", 8, 12, ("0", "1")),
    ],
)
def test_accesses_are_wide_where_rows_allow(
    variant: str, n: int, k: int, aligned: tuple[str, str]
) -> None:
    defines = plan(variant, GemmSize(m=5, n=n, k=k)).defines
    assert (defines["A_ALIGNED"], defines["B_ALIGNED"]) == aligned


def test_shared_memory_of_tensor_core_by_hand() -> None:
    # Three stages of 128 rows of 32 + 8 and 32 rows of 128 + 8 elements of two bytes.
    assert plan("tensor_core", SEED).launches[0].dynamic_shared_bytes == 56_832
    assert plan("tensor_core", ODD).launches[0].dynamic_shared_bytes == 29_184


def test_tensor_core_needs_asynchronous_copies() -> None:
    turing = LaunchLimits(compute_capability=(7, 5), sm_count=40, shared_bytes_per_block=64 * 1024)
    with pytest.raises(NotSupportedError, match=r"8\.0, this card has 7\.5"):
        plan("tensor_core", SEED, limits=turing)
    assert plan("register_tiled", SEED, limits=turing).launches


@pytest.mark.parametrize("variant", VARIANTS)
def test_more_blocks_than_a_launch_has_are_refused(variant: str) -> None:
    with pytest.raises(NotSupportedError, match="a launch has at most 2147483647"):
        plan(variant, GemmSize(m=2**31 - 1, n=2**31 - 1, k=1))


def test_default_sizes() -> None:
    assert [size.m for size in GEMM.sizes[SizeSet.SEED]] == [1024, 4096]
    assert [size.m for size in GEMM.sizes[SizeSet.DRAM]] == [8192]
    for sizes in GEMM.sizes.values():
        assert all(size.m == size.n == size.k for size in sizes)
