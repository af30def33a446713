"""The layernorm family: reference, inputs, costs by hand, and faults that must be refused."""

from collections.abc import Callable

import numpy as np
import pytest

from rooflens.hardware import LaunchLimits
from rooflens.kernels.layernorm import KERNELS, LAYERNORM, LayerNormSize
from rooflens.kernels.layernorm.family import (
    CONSTANT,
    LARGEST_BETA,
    LARGEST_GAMMA,
    LARGEST_MEAN,
)
from rooflens.kernels.layernorm.variants import row_threads
from rooflens.kernels.spec import Array, Plan
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType, Precision
from rooflens.profiler.verify import compare
from rooflens.terms import SizeSet

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
SEED = LayerNormSize(rows=128, cols=4096)
SEED_BYTES = 128 * 4096 * 4
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
SIZE = LayerNormSize(rows=9, cols=203)


def plan(variant: str, size: LayerNormSize, dtype: DType = DType.FLOAT32) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, H200)


def draw(size: LayerNormSize, dtype: DType, seed: int = 1) -> dict[str, Array]:
    return LAYERNORM.make_inputs(size, dtype, np.random.default_rng(seed))


def layernorm(x: Array, gamma: Array | None = None, beta: Array | None = None) -> Array:
    rows, cols = x.shape
    inputs = {
        "x": x,
        "gamma": np.ones(cols) if gamma is None else gamma,
        "beta": np.zeros(cols) if beta is None else beta,
    }
    return LAYERNORM.reference(inputs, LayerNormSize(rows=rows, cols=cols))["y"]


def test_reference_by_hand() -> None:
    # Mean 2, variance 1: -1 and 1 over sqrt(1.00001).
    y = layernorm(np.array([[1.0, 3.0]]), gamma=np.array([2.0, 1.0]), beta=np.array([0.0, 5.0]))
    unit = 0.999995000037
    np.testing.assert_allclose(y, [[-2 * unit, 5 + unit]], rtol=1e-11)


def test_a_constant_row_becomes_beta() -> None:
    y = layernorm(np.full((1, 3), 7.0), beta=np.array([1.0, -2.0, 3.0]))
    np.testing.assert_array_equal(y, [[1.0, -2.0, 3.0]])


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_makes_its_whole_row_nan(poison: float) -> None:
    y = layernorm(np.array([[poison, 1.0, 2.0], [4.0, 4.0, 4.0]]))
    assert np.isnan(y[0]).all()
    np.testing.assert_array_equal(y[1], [0.0, 0.0, 0.0])


def test_reference_in_blocks_is_reference_at_once() -> None:
    x = np.random.default_rng(0).standard_normal((5, 2_000_001))
    centred = x - x.mean(axis=1, keepdims=True)
    truth = centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(layernorm(x), truth, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reference_is_that_of_pytorch(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    inputs = draw(SIZE, dtype)
    wide = {name: torch.from_numpy(one.astype(np.float64)) for name, one in inputs.items()}
    truth = torch.nn.functional.layer_norm(
        wide["x"], (SIZE.cols,), wide["gamma"], wide["beta"], eps=1e-5
    )
    found = LAYERNORM.reference(inputs, SIZE)["y"]
    np.testing.assert_allclose(found, truth.numpy(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [2, 3, 5, 7, 31, 203, 4096])
def test_inputs_stay_within_what_the_tolerance_counts_on(dtype: DType, cols: int) -> None:
    for seed in range(20):
        inputs = draw(LayerNormSize(rows=33, cols=cols), dtype, seed)
        x = inputs["x"].astype(np.float64)[:-1]
        assert (np.abs(x.mean(axis=1)) <= LARGEST_MEAN * x.std(axis=1)).all()
        assert np.abs(inputs["gamma"].astype(np.float64)).max() <= LARGEST_GAMMA
        assert np.abs(inputs["beta"].astype(np.float64)).max() <= LARGEST_BETA


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs_hold_what_trips_wrong_kernels(dtype: DType) -> None:
    inputs = draw(SEED, dtype)
    assert {name: one.shape for name, one in inputs.items()} == {
        "x": (128, 4096),
        "gamma": (4096,),
        "beta": (4096,),
    }
    assert all(one.dtype == numpy_type(dtype) for one in inputs.values())
    x = inputs["x"].astype(np.float64)
    assert np.isfinite(x).all()
    assert (x[-1] == CONSTANT).all()
    assert np.abs(x[0]).max() > 8  # outliers
    assert x[1].var() < 0.2 * 1e-5  # epsilon weighs more than the variance
    assert np.abs(x[2].mean()) > 2 * x[2].std()
    assert np.square(x[2]).max() > 65504  # over float16
    assert inputs["gamma"].astype(np.float64).min() < -1


def test_inputs_follow_their_seed() -> None:
    np.testing.assert_array_equal(
        draw(SIZE, DType.FLOAT32, 5)["x"], draw(SIZE, DType.FLOAT32, 5)["x"]
    )
    assert not np.array_equal(draw(SIZE, DType.FLOAT32, 5)["x"], draw(SIZE, DType.FLOAT32, 6)["x"])


@pytest.mark.parametrize("variant", [kernel.variant for kernel in KERNELS])
def test_flops_and_compulsory_bytes_are_those_of_the_definition(variant: str) -> None:
    cost = plan(variant, SEED).cost
    # Per row: mean 4095 + 1, centring 4096, squares 4096, variance 4095 + 1, epsilon 1, three
    # products and sums of 4096 each.
    assert cost.flops == {Precision.FP32: 128 * 28_673}
    assert cost.compulsory.read_bytes == SEED_BYTES + 2 * 4096 * 4 == 2_129_920
    assert cost.compulsory.write_bytes == SEED_BYTES == 2_097_152


@pytest.mark.parametrize(
    ("variant", "reads", "roots"),
    [
        # (times N elements read: of x, and one each of gamma and beta; roots per row)
        ("naive", 3 + 2, 256),
        ("sum_squares", 2 + 2, 256),
        ("welford", 2 + 2, 256),
        ("warp_reduce", 2 + 2, 1),
        ("two_pass_warp", 1 + 2, 256),
    ],
)
def test_issued_bytes_and_roots(variant: str, reads: int, roots: int) -> None:
    whole = plan(variant, SEED)
    assert whole.cost.issued.read_bytes == reads * SEED_BYTES
    assert whole.cost.issued.write_bytes == SEED_BYTES
    assert whole.cost.special_function_ops == 128 * roots
    assert [launch.cost for launch in whole.launches] == [whole.cost]
    assert whole.working_set_bytes == 2 * SEED_BYTES + 2 * 16_384


def test_narrow_types_move_half_the_bytes() -> None:
    cost = plan("two_pass_warp", SEED, DType.BFLOAT16).cost
    assert cost.issued.read_bytes == 3 * SEED_BYTES // 2
    assert cost.compulsory.read_bytes == SEED_BYTES // 2 + 2 * 4096 * 2


def test_what_registers_cannot_hold_is_read_three_times() -> None:
    whole = plan("two_pass_warp", LayerNormSize(rows=2, cols=70_000))
    # 1024 threads keep 32 elements each: 32,768 stay, 37,232 do not; gamma and beta once a row.
    assert whole.cost.issued.read_bytes == 4 * 2 * (32_768 + 3 * 37_232 + 2 * 70_000)


@pytest.mark.parametrize(
    ("cols", "threads"),
    [(1, 32), (512, 32), (513, 64), (1023, 64), (4096, 256), (16384, 1024), (10**6, 1024)],
)
def test_two_pass_warp_takes_about_sixteen_elements_a_thread(cols: int, threads: int) -> None:
    assert row_threads(cols) == threads


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("variant", [kernel.variant for kernel in KERNELS])
def test_a_block_for_every_row_and_a_type_for_every_source(variant: str, dtype: DType) -> None:
    found = plan(variant, LayerNormSize(rows=70_001, cols=7), dtype)
    (launch,) = found.launches
    assert launch.grid == (70_001, 1, 1)
    assert found.defines["BLOCK_THREADS"] == str(launch.block[0])
    assert f"ELEMENT_{dtype.name}" in found.defines


def test_default_sizes() -> None:
    assert LAYERNORM.sizes[SizeSet.SEED] == (SEED,)
    assert [str(size) for size in LAYERNORM.sizes[SizeSet.DRAM]] == ["rows=16384,cols=4096"]


def moments(x: Array) -> tuple[Array, Array]:
    wide = x.astype(np.float64)
    return wide.mean(axis=1, keepdims=True), wide.var(axis=1, keepdims=True)


def normalised(inputs: dict[str, Array], mean: Array, scale: Array) -> Array:
    wide = {name: one.astype(np.float64) for name, one in inputs.items()}
    y: Array = (wide["x"] - mean) * scale * wide["gamma"] + wide["beta"]
    return y


def right(inputs: dict[str, Array]) -> Array:
    """float32 from beginning to end."""
    x = inputs["x"].astype(np.float32)
    mean = x.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt(np.square(x - mean).mean(axis=1, keepdims=True) + np.float32(1e-5))
    y: Array = (x - mean) * scale * inputs["gamma"].astype(np.float32)
    return y + inputs["beta"].astype(np.float32)


def no_broadcast(inputs: dict[str, Array]) -> Array:
    """Warps after the first normalise by their own 32 columns."""
    x = inputs["x"].astype(np.float64)
    mean, variance = (np.repeat(one, x.shape[1], axis=1) for one in moments(x))
    for start in range(32, x.shape[1], 32):
        part = slice(start, start + 32)
        mean[:, part], variance[:, part] = moments(x[:, part])
    return normalised(inputs, mean, 1 / np.sqrt(variance + 1e-5))


def averages_parts(inputs: dict[str, Array]) -> Array:
    """203 elements in parts of 128 and 75, taken as if alike."""
    x = inputs["x"]
    (a, va), (b, vb) = moments(x[:, :128]), moments(x[:, 128:])
    variance = (va + vb) / 2 + np.square(a - b) / 4
    return normalised(inputs, (a + b) / 2, 1 / np.sqrt(variance + 1e-5))


def empty_parts(inputs: dict[str, Array]) -> Array:
    return np.full_like(inputs["x"], np.nan, dtype=np.float64)


def sample_variance(inputs: dict[str, Array]) -> Array:
    mean, variance = moments(inputs["x"])
    cols = inputs["x"].shape[1]
    return normalised(inputs, mean, 1 / np.sqrt(variance * cols / (cols - 1) + 1e-5))


def epsilon_outside(inputs: dict[str, Array]) -> Array:
    mean, variance = moments(inputs["x"])
    return normalised(inputs, mean, 1 / (np.sqrt(variance) + 1e-5))


def no_epsilon(inputs: dict[str, Array]) -> Array:
    mean, variance = moments(inputs["x"])
    with np.errstate(divide="ignore", invalid="ignore"):
        return normalised(inputs, mean, 1 / np.sqrt(variance))


def no_beta(inputs: dict[str, Array]) -> Array:
    return right(inputs) - inputs["beta"].astype(np.float32)


Fault = Callable[[dict[str, Array]], Array]
FAULTS: tuple[Fault, ...] = (
    no_broadcast,
    averages_parts,
    empty_parts,
    sample_variance,
    epsilon_outside,
    no_epsilon,
    no_beta,
)


def passes(result: Fault, size: LayerNormSize, dtype: DType) -> bool:
    inputs = draw(size, dtype)
    with np.errstate(over="ignore"):
        out = result(inputs).astype(numpy_type(dtype))
    truth = LAYERNORM.reference(inputs, size)
    return compare({"y": out}, truth, LAYERNORM.tolerance(size, dtype)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 2, 203, 4096])
def test_a_right_result_passes(cols: int, dtype: DType) -> None:
    assert passes(right, LayerNormSize(rows=9, cols=cols), dtype)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_a_wrong_result_is_refused(fault: Fault) -> None:
    assert not passes(fault, SIZE, DType.FLOAT32)


def test_a_variance_over_cols_less_one_is_refused_at_the_seed_size() -> None:
    assert not passes(sample_variance, SEED, DType.FLOAT32)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
@pytest.mark.parametrize(
    "fault", [one for one in FAULTS if one is not sample_variance], ids=lambda one: one.__name__
)
def test_rounding_to_a_narrow_type_hides_no_gross_fault(fault: Fault, dtype: DType) -> None:
    assert not passes(fault, SIZE, dtype)
