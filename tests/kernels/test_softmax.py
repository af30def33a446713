"""The softmax family: reference, inputs and costs, by hand."""

import math

import numpy as np
import pytest

from rooflens.errors import UsageError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.softmax import KERNELS, SOFTMAX, SoftmaxSize
from rooflens.kernels.softmax.variants import cached_threads, online_exponentials
from rooflens.kernels.spec import Array, Plan
from rooflens.precision import DType, Precision
from rooflens.terms import SizeSet

RTX_4090 = LaunchLimits(compute_capability=(8, 9), sm_count=128, shared_bytes_per_block=99 * 1024)
SEED = SoftmaxSize(rows=128, cols=4096)
SEED_BYTES = 128 * 4096 * 4


def plan(variant: str, size: SoftmaxSize, limits: LaunchLimits = RTX_4090) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, DType.FLOAT32, limits)


def softmax(x: Array) -> Array:
    return SOFTMAX.reference({"x": x}, SoftmaxSize(rows=x.shape[0], cols=x.shape[1]))["y"]


def test_reference_by_hand() -> None:
    y = softmax(np.array([[0.0, math.log(3.0)], [1000.0, 1000.0]]))
    np.testing.assert_allclose(y, [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)


def test_a_row_of_minus_infinity_is_zeros_and_masks_have_no_mass() -> None:
    y = softmax(np.array([[-np.inf, -np.inf], [-np.inf, 5.0]]))
    np.testing.assert_array_equal(y, [[0.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_nan_and_plus_infinity_make_their_whole_row_nan(poison: float) -> None:
    y = softmax(np.array([[poison, 1.0], [0.0, 0.0]]))
    assert np.isnan(y[0]).all()
    np.testing.assert_array_equal(y[1], [0.5, 0.5])


def test_reference_in_blocks_is_reference_at_once() -> None:
    x = np.random.default_rng(0).standard_normal((5, 3_000_001))
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(softmax(x), e / e.sum(axis=1, keepdims=True), rtol=1e-12)


def test_inputs_hold_what_trips_wrong_kernels() -> None:
    x = SOFTMAX.make_inputs(SEED, DType.FLOAT32, np.random.default_rng(3))["x"]
    assert x.dtype == np.float32
    assert x.shape == (128, 4096)
    assert x[0].max() > 88.8  # exp overflows float32
    assert np.isneginf(x[-1]).all()
    assert 0 < np.isneginf(x[:-1]).sum() < 0.01 * x.size
    finite = x[1][np.isfinite(x[1])]
    assert np.abs(finite).max() > 6  # outliers


def test_inputs_follow_their_seed() -> None:
    def draw(seed: int) -> Array:
        return SOFTMAX.make_inputs(SEED, DType.FLOAT32, np.random.default_rng(seed))["x"]

    np.testing.assert_array_equal(draw(5), draw(5))
    assert not np.array_equal(draw(5), draw(6))


@pytest.mark.parametrize("variant", [kernel.variant for kernel in KERNELS])
def test_flops_and_compulsory_bytes_are_those_of_the_definition(variant: str) -> None:
    cost = plan(variant, SEED).cost
    # Per row 4096 subtractions, 4095 additions, 4096 divisions.
    assert cost.flops == {Precision.FP32: 128 * 12_287}
    assert cost.compulsory.read_bytes == SEED_BYTES == 2_097_152
    assert cost.compulsory.write_bytes == SEED_BYTES


@pytest.mark.parametrize(
    ("variant", "reads", "writes", "special"),
    [
        # (times N elements read, times N written, exponentials per row)
        ("thread_per_row", 3, 1, 2 * 4096),
        ("naive", 3, 1, 2 * 4096),
        # A thread of 256 takes two groups of 8, each with 9 exponentials: 4608 a row.
        ("online", 2, 1, 4608 + 4096 + 510),
        ("warp_reduce", 2, 1, 4608 + 4096 + 256),
        ("warp_per_row", 2, 1, 4608 + 4096 + 320),
        ("cached", 1, 1, 4096),
    ],
)
def test_issued_bytes_and_exponentials(variant: str, reads: int, writes: int, special: int) -> None:
    cost = plan(variant, SEED).cost
    assert cost.issued.read_bytes == reads * SEED_BYTES
    assert cost.issued.write_bytes == writes * SEED_BYTES
    assert cost.special_function_ops == 128 * special


def test_unfused_moves_about_six_times_n() -> None:
    whole = plan("unfused", SEED)
    vector = 128 * 4
    # max and sum read N and write a vector; exp and divide read N and a vector and write N.
    assert whole.cost.issued.read_bytes == 4 * SEED_BYTES + 2 * vector
    assert whole.cost.issued.write_bytes == 2 * SEED_BYTES + 2 * vector
    assert whole.cost.special_function_ops == 128 * 4096
    assert [launch.entry for launch in whole.launches] == [
        "row_max",
        "exp_shifted",
        "row_sum",
        "divide",
    ]
    flops = sum(launch.cost.flops.get(Precision.FP32, 0) for launch in whole.launches)
    assert flops == whole.cost.flops[Precision.FP32]
    assert whole.working_set_bytes == 2 * SEED_BYTES + 2 * vector


def test_cached_reads_the_rest_of_a_row_longer_than_shared_memory_three_times() -> None:
    whole = plan("cached", SoftmaxSize(rows=2, cols=40_000))
    (launch,) = whole.launches
    # 99 KiB less 128 bytes of scratch is 101,248 bytes: 25,312 elements stay, 14,688 do not.
    assert launch.dynamic_shared_bytes == 101_248
    assert whole.cost.issued.read_bytes == 2 * 4 * (25_312 + 3 * 14_688)
    assert whole.cost.special_function_ops == 2 * (25_312 + 2 * 14_688)


@pytest.mark.parametrize(
    ("cols", "threads", "exponentials"),
    [
        (1, 256, 9),  # one thread has an element
        (256, 256, 256 * 9),
        (257, 256, 256 * 9),  # the second element of thread 0 is in its first group
        (2048, 256, 256 * 9),
        (2050, 256, 258 * 9),  # threads 0 and 1 begin a second group
        (4096, 32, 32 * 16 * 9),
    ],
)
def test_the_online_pass_takes_nine_exponentials_a_group(
    cols: int, threads: int, exponentials: int
) -> None:
    assert online_exponentials(cols, threads) == exponentials


@pytest.mark.parametrize(
    ("cols", "threads"),
    [(1, 32), (512, 32), (513, 64), (1023, 64), (4096, 256), (16384, 1024), (10**6, 1024)],
)
def test_cached_takes_about_sixteen_elements_a_thread(cols: int, threads: int) -> None:
    assert cached_threads(cols) == threads


@pytest.mark.parametrize("variant", [kernel.variant for kernel in KERNELS])
@pytest.mark.parametrize("rows", [1, 3, 127, 129, 4096])
def test_every_row_has_a_thread(variant: str, rows: int) -> None:
    for launch in plan(variant, SoftmaxSize(rows=rows, cols=1025)).launches:
        per_block = {"softmax_thread_per_row": 128, "softmax_warp_per_row": 8}.get(launch.entry, 1)
        assert launch.grid[0] * per_block >= rows > (launch.grid[0] - 1) * per_block


@pytest.mark.parametrize("wrong", [0, -4, 2**31, True, 3.0, "8"])
def test_sizes_that_are_not_positive_whole_numbers_are_refused(wrong: int) -> None:
    with pytest.raises(UsageError, match="rows"):
        SoftmaxSize(rows=wrong, cols=4)


def test_default_sizes_are_the_seed_texts_and_dram_sized_ones() -> None:
    assert SOFTMAX.sizes[SizeSet.SEED] == (SEED,)
    assert [str(size) for size in SOFTMAX.sizes[SizeSet.DRAM]] == [
        "rows=16384,cols=4096",
        "rows=8192,cols=32768",
    ]
