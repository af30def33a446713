"""The rope family: references of both layouts, inputs, tolerance and costs by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.rope import KERNELS, ROPE, RopeSize, half_reference
from rooflens.kernels.rope.family import LARGEST_RADIUS, angle_error, frequencies
from rooflens.kernels.spec import Array, KernelSpec, Plan, Role
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType, Precision
from rooflens.terms import SizeSet

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
SEED = RopeSize(seq=2048, heads=32, dim=128)
SIZE = RopeSize(seq=300, heads=3, dim=66)
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
VARIANTS = [kernel.variant for kernel in KERNELS]
COMPUTED = [one for one in VARIANTS if one != "table"]


def kernel(variant: str) -> KernelSpec[RopeSize]:
    (found,) = (one for one in KERNELS if one.variant == variant)
    return found


def plan(variant: str, size: RopeSize, dtype: DType = DType.FLOAT32) -> Plan:
    return kernel(variant).plan(size, dtype, H200)


def draw(size: RopeSize, dtype: DType = DType.FLOAT32, seed: int = 1) -> dict[str, Array]:
    return ROPE.make_inputs(size, dtype, np.random.default_rng(seed))


def adjacent(x: Array) -> Array:
    size = RopeSize(seq=x.shape[0], heads=x.shape[1], dim=x.shape[2])
    return ROPE.reference({"x": x}, size)["y"]


def halves(x: Array) -> Array:
    size = RopeSize(seq=x.shape[0], heads=x.shape[1], dim=x.shape[2])
    return half_reference({"x": x}, size)["y"]


def test_the_ladder_and_whose_reference_it_is() -> None:
    assert VARIANTS == ["naive", "vectorized", "half_rotation", "table"]
    assert [one.expected is half_reference for one in KERNELS] == [False, False, True, False]
    assert kernel("naive").expected is ROPE.reference


def test_reference_by_hand() -> None:
    # dim 4: pair 0 turns by the position, pair 1 by a hundredth of it (10000^(-2/4) = 0.01).
    x = np.tile(np.array([3.0, 4.0, 1.0, 2.0]), (2, 1, 1))
    c0, s0, c1, s1 = math.cos(1.0), math.sin(1.0), math.cos(0.01), math.sin(0.01)
    turned = [3 * c0 - 4 * s0, 3 * s0 + 4 * c0, c1 - 2 * s1, s1 + 2 * c1]
    np.testing.assert_allclose(adjacent(x), [[[3.0, 4.0, 1.0, 2.0]], [turned]], rtol=1e-15)
    # In halves the pairs are (3, 1) and (4, 2).
    turned = [3 * c0 - s0, 4 * c1 - 2 * s1, 3 * s0 + c0, 4 * s1 + 2 * c1]
    np.testing.assert_allclose(halves(x), [[[3.0, 4.0, 1.0, 2.0]], [turned]], rtol=1e-15)


def test_a_pair_of_the_slowest_frequency_by_hand() -> None:
    # dim 128, pair 63: 10000^(-126/128) = 1.1547820e-4 radians a position, 0.2363839 at 2047.
    x = np.zeros((2048, 1, 128))
    x[:, :, 126] = 1.0
    y = adjacent(x)[2047, 0]
    np.testing.assert_allclose(y[126:], [math.cos(0.2363839), math.sin(0.2363839)], atol=1e-7)
    assert not y[:126].any()


def test_references_in_runs_are_references_at_once() -> None:
    size = RopeSize(seq=3001, heads=2, dim=1026)  # more than one run, the last one short
    x = draw(size)["x"].astype(np.float64)
    angles = np.arange(3001)[:, None] * 10000.0 ** (-2.0 * np.arange(513) / 1026)
    turns = np.exp(1j * angles)[:, None, :]
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * turns
    y = adjacent(x)
    np.testing.assert_allclose(y[..., 0::2] + 1j * y[..., 1::2], turned, rtol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_references_are_those_of_pytorch(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    inputs = draw(SIZE, dtype)
    x = torch.from_numpy(inputs["x"].astype(np.float64))
    powers = 10000.0 ** (-torch.arange(0, 66, 2, dtype=torch.float64) / 66)
    angles = torch.outer(torch.arange(300, dtype=torch.float64), powers)
    # As complex numbers, which is how adjacent pairs are turned in published code.
    turns = torch.polar(torch.ones_like(angles), angles)[:, None, :]
    turned = torch.view_as_complex(x.reshape(300, 3, 33, 2)) * turns
    truth = torch.view_as_real(turned).reshape(300, 3, 66).numpy()
    np.testing.assert_allclose(ROPE.reference(inputs, SIZE)["y"], truth, rtol=1e-9, atol=1e-12)
    # As x * cos + rotate_half(x) * sin, which is how halves are.
    cosine, sine = (torch.cat((one, one), -1)[:, None] for one in (angles.cos(), angles.sin()))
    swapped = torch.cat((-x[..., 33:], x[..., :33]), -1)
    truth = (x * cosine + swapped * sine).numpy()
    np.testing.assert_allclose(half_reference(inputs, SIZE)["y"], truth, rtol=1e-9, atol=1e-12)


def scores(queries: Array, keys: Array) -> Array:
    """q . k for every pair of positions, head by head."""
    products: Array = np.einsum("qhd,khd->hqk", queries, keys)
    return products


def test_both_layouts_give_the_same_attention_scores() -> None:
    rng = np.random.default_rng(0)
    queries, keys = rng.standard_normal((2, 40, 3, 66))
    order = np.concatenate((np.arange(0, 66, 2), np.arange(1, 66, 2)))  # adjacent into halves
    of_adjacent = scores(adjacent(queries), adjacent(keys))
    of_halves = scores(halves(queries[..., order]), halves(keys[..., order]))
    np.testing.assert_allclose(of_halves, of_adjacent, rtol=1e-10, atol=1e-12)
    # The permutation is not for nothing: weights of one layout are of no use in the other.
    assert np.abs(scores(halves(queries), halves(keys)) - of_adjacent).max() > 1


def test_scores_depend_on_the_distance_of_positions_alone() -> None:
    rng = np.random.default_rng(0)
    query, key = rng.standard_normal((2, 1, 1, 66))
    of_all = scores(adjacent(np.tile(query, (50, 1, 1))), adjacent(np.tile(key, (50, 1, 1))))[0]
    for distance in (-7, 0, 30):
        diagonal = np.diagonal(of_all, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs(dtype: DType) -> None:
    inputs = draw(SIZE, dtype)
    assert inputs["x"].dtype == numpy_type(dtype)
    x = inputs["x"].astype(np.float64)
    assert x.shape == (300, 3, 66)
    assert np.abs(x).min() >= 0.25
    assert np.abs(x).max() <= 2.0
    assert np.hypot(x[..., 0::2], x[..., 1::2]).max() <= LARGEST_RADIUS
    assert 0.45 < (x > 0).mean() < 0.55
    assert len(np.unique(x)) > 200
    for name, function in (("cosines", np.cos), ("sines", np.sin)):
        assert inputs[name].dtype == np.float32
        angles = np.outer(np.arange(300.0), frequencies(SIZE))
        np.testing.assert_array_equal(inputs[name], function(angles).astype(np.float32))


def test_frequencies_by_hand() -> None:
    found = frequencies(RopeSize(seq=1, heads=1, dim=8))
    np.testing.assert_allclose(found, [1.0, 0.1, 0.01, 0.001], rtol=1e-15)


def test_angle_error_by_hand() -> None:
    # dim 4: pair 1 has frequency 2^-6.643856 = 0.01, so 2 ln 2 x 6.643856 + 5 = 14.21034 half-units
    # of 2^-24, at position 1000: 1000 x 0.01 x 14.21034 / 2^24 = 8.4700e-6.
    assert angle_error(RopeSize(seq=1001, heads=7, dim=4)) == pytest.approx(8.4700e-6, rel=1e-4)
    assert angle_error(RopeSize(seq=1001, heads=1, dim=2)) == 0.0  # the position itself
    assert angle_error(RopeSize(seq=1, heads=1, dim=64)) == 0.0
    # Past 2^24 positions are rounded: 2^25 x 2^-24 = 2 radians.
    assert angle_error(RopeSize(seq=2**25 + 1, heads=1, dim=2)) == pytest.approx(2.0)


def test_tolerance_by_hand() -> None:
    found = ROPE.tolerance(RopeSize(seq=1001, heads=1, dim=4), DType.FLOAT32)
    # 2 sqrt(2) x (8.4700e-6 + 6 / 2^24)
    assert found.absolute == pytest.approx(2.49683e-5, rel=1e-4)
    assert found.relative == 2.0**-24
    half = ROPE.tolerance(RopeSize(seq=1, heads=1, dim=4), DType.FLOAT16)
    assert half.relative == pytest.approx(2.0**-11, rel=1e-3)
    assert half.absolute == pytest.approx(1.0413e-6, rel=1e-3)  # 2 sqrt(2) x 6 / 2^24 + 2^-25


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("dtype", "item"), [(DType.FLOAT32, 4), (DType.FLOAT16, 2)])
def test_costs_by_hand(variant: str, dtype: DType, item: int) -> None:
    whole = plan(variant, SEED, dtype)
    elements = 8_388_608  # 2048 x 32 x 128
    pairs = 4_194_304
    # Four products, one sum, one difference a pair.
    assert whole.cost.flops == {Precision.FP32: 25_165_824}
    assert whole.cost.compulsory.write_bytes == elements * item
    assert whole.cost.issued.write_bytes == elements * item
    if variant == "table":
        # Two tables of 2048 x 64 float32 are 1 MiB; every pair of every head asks for 8 bytes.
        assert whole.cost.special_function_ops == 0
        assert whole.cost.compulsory.read_bytes == elements * item + 1_048_576
        assert whole.cost.issued.read_bytes == elements * item + pairs * 8
        assert whole.working_set_bytes == 2 * elements * item + 1_048_576
    else:
        # A sine, a cosine and an exponential a pair.
        assert whole.cost.special_function_ops == 12_582_912
        assert whole.cost.compulsory.read_bytes == elements * item
        assert whole.cost.issued == whole.cost.compulsory
        assert whole.working_set_bytes == 2 * elements * item
    assert [launch.cost for launch in whole.launches] == [whole.cost]


def test_only_table_reads_tables() -> None:
    for variant in VARIANTS:
        read = [one.name for one in plan(variant, SEED).buffers if one.role is Role.INPUT]
        assert read == (["x", "cosines", "sines"] if variant == "table" else ["x"])


@pytest.mark.parametrize(
    ("variant", "dim", "dtype", "group"),
    [
        ("vectorized", 128, DType.FLOAT32, 4),
        ("vectorized", 130, DType.FLOAT32, 2),
        ("vectorized", 128, DType.BFLOAT16, 8),
        ("vectorized", 132, DType.FLOAT16, 4),
        ("table", 66, DType.FLOAT16, 2),
        ("half_rotation", 128, DType.FLOAT32, 4),
        ("half_rotation", 132, DType.FLOAT32, 2),
        ("half_rotation", 66, DType.FLOAT32, 1),
        ("half_rotation", 80, DType.FLOAT16, 8),
        ("half_rotation", 2, DType.FLOAT16, 1),
    ],
)
def test_accesses_are_as_wide_as_heads_allow(
    variant: str, dim: int, dtype: DType, group: int
) -> None:
    size = RopeSize(seq=2, heads=3, dim=dim)
    assert plan(variant, size, dtype).defines["GROUP"] == str(group)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dim", [2, 64, 66, 130, 256])
@pytest.mark.parametrize("heads", [1, 5, 33])
def test_every_element_has_a_thread(variant: str, heads: int, dim: int, dtype: DType) -> None:
    whole = plan(variant, RopeSize(seq=3, heads=heads, dim=dim), dtype)
    (launch,) = whole.launches
    of_a_thread = int(whole.defines.get("GROUP", "2"))
    if variant == "half_rotation":
        of_a_thread *= 2
    threads = launch.block[0]
    assert whole.defines["BLOCK_THREADS"] == str(threads)
    assert threads % 32 == 0
    assert launch.grid[0] % 3 == 0
    of_a_block = threads * of_a_thread
    assert (launch.grid[0] // 3 - 1) * of_a_block < heads * dim
    assert heads * dim <= launch.grid[0] // 3 * of_a_block


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_odd_head_is_refused(variant: str) -> None:
    with pytest.raises(NotSupportedError, match="dim must be even, got 127"):
        plan(variant, RopeSize(seq=4, heads=2, dim=127))


def test_angles_past_what_float32_holds_are_refused_but_read_from_a_table() -> None:
    size = RopeSize(seq=2_000_000, heads=1, dim=128)
    for variant in COMPUTED:
        with pytest.raises(NotSupportedError, match=r"off by 0\.5\d radians.*use rope\.table"):
            plan(variant, size)
    assert plan("table", size).launches[0].grid == (2_000_000, 1, 1)
    assert plan("naive", replace(size, seq=131_072)).launches


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_no_grid_or_index_holds_is_refused(variant: str) -> None:
    with pytest.raises(NotSupportedError, match="elements of a token"):
        plan(variant, RopeSize(seq=1, heads=2**24, dim=128))
    with pytest.raises(NotSupportedError, match="blocks, a launch has at most"):
        plan(variant, RopeSize(seq=2**16, heads=2**29, dim=2))


def test_default_sizes_and_that_caches_do_not_hold_the_large_one() -> None:
    assert ROPE.sizes[SizeSet.SEED] == (SEED,)
    (large,) = ROPE.sizes[SizeSet.DRAM]
    assert large == RopeSize(seq=16_384, heads=32, dim=128)
    # In float16 too, either tensor alone is more than twice the 50 MiB of an H100 or H200.
    for dtype in DTYPES:
        assert plan("naive", large, dtype).buffers[0].size_bytes > 2 * 50 * 2**20


def test_infinities_and_nan_stay_within_their_pair() -> None:
    x = np.ones((2, 1, 6))
    x[1, 0, :4] = (np.inf, 1.0, np.nan, 1.0)
    y = adjacent(x)[1, 0]
    np.testing.assert_array_equal(y[:4], [np.inf, np.inf, np.nan, np.nan])
    assert np.isfinite(y[4:]).all()
