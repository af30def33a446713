"""The rmsnorm family: reference, inputs, costs by hand, and faults that must be refused."""

from collections.abc import Callable

import numpy as np
import pytest

from rooflens.errors import UsageError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.rmsnorm import KERNELS, RMSNORM, RmsNormSize
from rooflens.kernels.spec import Array, Plan
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType, Precision
from rooflens.profiler.verify import compare
from rooflens.terms import SizeSet

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
SEED = RmsNormSize(rows=2048, cols=4096)
SEED_BYTES = 2048 * 4096 * 4
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
VARIANTS = [kernel.variant for kernel in KERNELS]
SIZE = RmsNormSize(rows=9, cols=203)


def plan(variant: str, size: RmsNormSize, dtype: DType = DType.FLOAT32) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, H200)


def draw(size: RmsNormSize, dtype: DType, seed: int = 1) -> dict[str, Array]:
    return RMSNORM.make_inputs(size, dtype, np.random.default_rng(seed))


def rmsnorm(x: Array, weight: Array | None = None, bias: Array | None = None) -> Array:
    rows, cols = x.shape
    inputs = {"x": x, "weight": np.ones(cols) if weight is None else weight}
    if bias is not None:
        inputs["bias"] = bias
    size = RmsNormSize(rows=rows, cols=cols, bias=int(bias is not None))
    return RMSNORM.reference(inputs, size)["y"]


def test_reference_by_hand() -> None:
    # Mean square (1 + 49) / 2 = 25; 1 / sqrt(25.000001) = 0.199999996.
    x, unit = np.array([[1.0, 7.0]]), 0.199999996
    np.testing.assert_allclose(rmsnorm(x), [[unit, 7 * unit]], rtol=1e-12)
    y = rmsnorm(x, weight=np.array([-2.0, 1.0]), bias=np.array([5.0, 0.0]))
    np.testing.assert_allclose(y, [[5 - 2 * unit, 7 * unit]], rtol=1e-12)


def test_epsilon_stands_inside_the_root() -> None:
    # Mean square 3e-6 with epsilon 1e-6 is 4e-6, whose root is 2e-3.
    x = np.full((1, 5), np.sqrt(3e-6))
    np.testing.assert_allclose(rmsnorm(x), x / 2e-3, rtol=1e-12)


def test_a_row_of_zeros_stays_zeros_and_the_mean_is_not_subtracted() -> None:
    y = rmsnorm(np.array([[0.0, 0.0], [1000.0, 1000.0]]))
    np.testing.assert_array_equal(y[0], [0.0, 0.0])
    np.testing.assert_allclose(y[1], [1.0, 1.0], rtol=1e-12)


def test_nan_and_infinity_as_defined() -> None:
    y = rmsnorm(np.array([[np.nan, 1.0], [np.inf, 1.0]]))
    assert np.isnan(y[0]).all()
    np.testing.assert_array_equal(y[1], [np.nan, 0.0])


def test_reference_in_blocks_is_reference_at_once() -> None:
    x = np.random.default_rng(0).standard_normal((5, 2_000_001))
    truth = x / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(rmsnorm(x), truth, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reference_is_that_of_pytorch(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    inputs = draw(SIZE, dtype)
    wide = {name: torch.from_numpy(one.astype(np.float64)) for name, one in inputs.items()}
    truth = torch.nn.functional.rms_norm(wide["x"], (SIZE.cols,), wide["weight"], eps=1e-6)
    found = RMSNORM.reference(inputs, SIZE)["y"]
    np.testing.assert_allclose(found, truth.numpy(), rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs_hold_what_trips_wrong_kernels(dtype: DType) -> None:
    inputs = draw(RmsNormSize(rows=9, cols=4096), dtype)
    assert {name: one.shape for name, one in inputs.items()} == {"x": (9, 4096), "weight": (4096,)}
    assert all(one.dtype == numpy_type(dtype) for one in inputs.values())
    x = inputs["x"].astype(np.float64)
    assert np.isfinite(x).all()
    assert (x[-1] == 0).all()
    assert 0.5e-6 < np.square(x[1]).mean() < 2e-6  # as large as epsilon
    assert np.square(x[2]).max() > 65504  # over float16
    assert x[3].mean() > 3
    assert inputs["weight"].astype(np.float64).min() < -1


def test_a_bias_comes_with_its_flag_alone() -> None:
    with_bias = RmsNormSize(rows=3, cols=5, bias=1)
    assert draw(with_bias, DType.FLOAT16)["bias"].shape == (5,)
    assert [one.name for one in plan("warp", with_bias).buffers] == ["x", "weight", "bias", "y"]
    assert "RMSNORM_BIAS" in plan("naive", with_bias).defines
    assert "RMSNORM_BIAS" not in plan("naive", SIZE).defines
    with pytest.raises(UsageError, match="bias is 0 or 1"):
        RmsNormSize(rows=3, cols=5, bias=2)


@pytest.mark.parametrize("variant", VARIANTS)
def test_flops_and_compulsory_bytes_are_those_of_the_definition(variant: str) -> None:
    cost = plan(variant, SEED).cost
    # Per row: squares 4096, their mean 4095 + 1, epsilon 1, two products of 4096 each.
    assert cost.flops == {Precision.FP32: 2048 * 16_385}
    assert cost.compulsory.read_bytes == SEED_BYTES + 4096 * 4 == 33_570_816
    assert cost.compulsory.write_bytes == SEED_BYTES == 33_554_432


def test_a_bias_adds_its_additions_and_its_bytes() -> None:
    cost = plan("warp", RmsNormSize(rows=2048, cols=4096, bias=1)).cost
    assert cost.flops == {Precision.FP32: 2048 * (16_385 + 4096)}
    assert cost.compulsory.read_bytes == SEED_BYTES + 2 * 4096 * 4
    assert cost.issued.read_bytes == 3 * SEED_BYTES  # x, weight and bias for every row


def test_issued_bytes_and_roots_of_naive() -> None:
    cost = plan("naive", SEED).cost
    # x twice; the weight once for each of the 2048 / 32 = 64 warps.
    assert cost.issued.read_bytes == 2 * SEED_BYTES + 64 * 16_384
    assert cost.issued.write_bytes == SEED_BYTES
    assert cost.special_function_ops == 2048


def test_issued_bytes_and_roots_of_warp() -> None:
    whole = plan("warp", SEED)
    # x once, the weight once a row; each of 256 threads takes the root.
    assert whole.cost.issued.read_bytes == 2 * SEED_BYTES
    assert whole.cost.issued.write_bytes == SEED_BYTES
    assert whole.cost.special_function_ops == 2048 * 256
    assert [launch.cost for launch in whole.launches] == [whole.cost]
    assert whole.working_set_bytes == 2 * SEED_BYTES + 16_384


def test_what_registers_cannot_hold_is_read_twice() -> None:
    cost = plan("warp", RmsNormSize(rows=2, cols=10_001), DType.FLOAT16).cost
    # 256 threads keep 32 elements each: 8192 stay, 1809 do not.
    assert cost.issued.read_bytes == 2 * 2 * (8192 + 2 * 1809 + 10_001)


@pytest.mark.parametrize("rows", [1, 3, 127, 129, 4096])
def test_every_row_has_a_thread(rows: int) -> None:
    size = RmsNormSize(rows=rows, cols=1025)
    (naive,), (warp,) = plan("naive", size).launches, plan("warp", size).launches
    assert naive.grid[0] * 128 >= rows > (naive.grid[0] - 1) * 128
    assert (warp.grid, warp.block) == ((rows, 1, 1), (256, 1, 1))


def test_default_sizes() -> None:
    assert RMSNORM.sizes[SizeSet.SEED] == (SEED,)
    assert RMSNORM.sizes[SizeSet.DRAM] == (RmsNormSize(rows=16384, cols=4096),)


def scaled(inputs: dict[str, Array], scale: Array) -> Array:
    y: Array = inputs["x"].astype(np.float64) * scale * inputs["weight"].astype(np.float64)
    return y


def mean_square(x: Array) -> Array:
    return np.asarray(np.square(x.astype(np.float64)).mean(axis=1, keepdims=True))


def right(inputs: dict[str, Array]) -> Array:
    """float32 from beginning to end."""
    x = inputs["x"].astype(np.float32)
    scale = 1 / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + np.float32(1e-6))
    y: Array = x * scale * inputs["weight"].astype(np.float32)
    return y + inputs["bias"].astype(np.float32) if "bias" in inputs else y


def epsilon_outside(inputs: dict[str, Array]) -> Array:
    return scaled(inputs, 1 / (np.sqrt(mean_square(inputs["x"])) + 1e-6))


def divides_by_less(inputs: dict[str, Array]) -> Array:
    cols = inputs["x"].shape[1]
    return scaled(inputs, 1 / np.sqrt(mean_square(inputs["x"]) * cols / (cols - 1) + 1e-6))


def one_partial(inputs: dict[str, Array]) -> Array:
    """The squares of one lane of 32 alone."""
    x = inputs["x"].astype(np.float64)
    part = np.square(x[:, ::32]).sum(axis=1, keepdims=True) / x.shape[1]
    return scaled(inputs, 1 / np.sqrt(part + 1e-6))


def subtracts_mean(inputs: dict[str, Array]) -> Array:
    x = inputs["x"].astype(np.float64)
    return scaled(inputs, 1 / np.sqrt(x.var(axis=1, keepdims=True) + 1e-6))


def no_epsilon(inputs: dict[str, Array]) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return scaled(inputs, 1 / np.sqrt(mean_square(inputs["x"])))


Fault = Callable[[dict[str, Array]], Array]
FAULTS: tuple[Fault, ...] = (
    epsilon_outside,
    divides_by_less,
    one_partial,
    subtracts_mean,
    no_epsilon,
)


def passes(result: Fault, size: RmsNormSize, dtype: DType) -> bool:
    inputs = draw(size, dtype)
    out = result(inputs).astype(numpy_type(dtype))
    truth = RMSNORM.reference(inputs, size)
    return compare({"y": out}, truth, RMSNORM.tolerance(size, dtype)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize("cols", [1, 2, 203, 4096])
def test_a_right_result_passes(cols: int, bias: int, dtype: DType) -> None:
    assert passes(right, RmsNormSize(rows=9, cols=cols, bias=bias), dtype)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("cols", [203, 4096])
def test_a_wrong_result_is_refused(fault: Fault, cols: int) -> None:
    assert not passes(fault, RmsNormSize(rows=9, cols=cols), DType.FLOAT32)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
@pytest.mark.parametrize(
    "fault", [one for one in FAULTS if one is not divides_by_less], ids=lambda one: one.__name__
)
def test_rounding_to_a_narrow_type_hides_no_gross_fault(fault: Fault, dtype: DType) -> None:
    assert not passes(fault, SIZE, dtype)
