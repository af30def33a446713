"""The swiglu family: reference, inputs, costs by hand, and faults that must be refused."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.spec import Array, Plan
from rooflens.kernels.storage import numpy_type
from rooflens.kernels.swiglu import KERNELS, SWIGLU, SwigluSize
from rooflens.precision import DType, Precision
from rooflens.profiler.verify import compare
from rooflens.terms import SizeSet

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
SEED = SwigluSize(rows=2048, cols=11008)
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
VARIANTS = [kernel.variant for kernel in KERNELS]
SIZE = SwigluSize(rows=9, cols=1023)


def plan(variant: str, size: SwigluSize, dtype: DType = DType.FLOAT32) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, H200)


def draw(size: SwigluSize, dtype: DType, seed: int = 1) -> dict[str, Array]:
    return SWIGLU.make_inputs(size, dtype, np.random.default_rng(seed))


def swiglu(gate: Array, up: Array) -> Array:
    size = SwigluSize(rows=gate.shape[0], cols=gate.shape[1])
    return SWIGLU.reference({"gate": gate, "up": up}, size)["y"]


def test_reference_by_hand() -> None:
    # sigmoid(ln 3) = 1 / (1 + 1/3) = 3/4, sigmoid(-ln 3) = 1/4, sigmoid(0) = 1/2.
    log3 = math.log(3.0)
    y = swiglu(np.array([[log3, -log3, 0.0]]), np.array([[4.0, 4.0, 4.0]]))
    np.testing.assert_allclose(y, [[3 * log3, -log3, 0.0]], rtol=1e-15)


def test_large_gates_are_the_gate_itself_or_nothing() -> None:
    y = swiglu(np.array([[1000.0, -1000.0]]), np.array([[3.0, 3.0]]))
    np.testing.assert_array_equal(y, [[3000.0, 0.0]])


def test_infinite_gates_are_their_limits_and_products_follow_ieee() -> None:
    inf, nan = np.inf, np.nan
    gate = np.array([[inf, inf, inf, -inf, -inf, nan, 1.0]])
    up = np.array([[2.0, -2.0, 0.0, 2.0, inf, 0.0, nan]])
    np.testing.assert_array_equal(swiglu(gate, up), [[inf, -inf, nan, 0.0, nan, nan, nan]])


def test_reference_in_runs_is_reference_at_once() -> None:
    rng = np.random.default_rng(0)
    gate, up = rng.standard_normal((5, 2_000_001)), rng.standard_normal((5, 2_000_001))
    np.testing.assert_allclose(swiglu(gate, up), gate / (1 + np.exp(-gate)) * up, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reference_is_that_of_pytorch(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    inputs = draw(SIZE, dtype)
    gate, up = (torch.from_numpy(inputs[name].astype(np.float64)) for name in ("gate", "up"))
    truth = (torch.nn.functional.silu(gate) * up).numpy()
    found = SWIGLU.reference(inputs, SIZE)["y"]
    masked = np.isneginf(inputs["gate"].astype(np.float64))  # NaN to PyTorch, defined here
    assert (found[masked] == 0).all()
    np.testing.assert_allclose(found[~masked], truth[~masked], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs_hold_what_trips_wrong_kernels(dtype: DType) -> None:
    inputs = draw(SwigluSize(rows=64, cols=1024), dtype)
    assert {one.dtype for one in inputs.values()} == {numpy_type(dtype)}
    assert {one.shape for one in inputs.values()} == {(64, 1024)}
    gate = inputs["gate"].astype(np.float64)
    assert gate.max() > 89  # exp(gate) overflows float32
    assert -1e9 < gate[np.isfinite(gate)].min() < -89  # exp(-gate) does
    assert 0 < np.isneginf(gate).sum() < 0.01 * gate.size
    assert np.isfinite(inputs["up"].astype(np.float64)).all()
    largest = np.abs(SWIGLU.reference(inputs, SwigluSize(rows=64, cols=1024))["y"]).max()
    assert largest < 65504  # float16 holds every result


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tiny_inputs_begin_with_the_hard_gates(count: int) -> None:
    gate = draw(SwigluSize(rows=1, cols=count), DType.FLOAT32)["gate"]
    np.testing.assert_array_equal(gate[0], [100.0, -100.0, -np.inf][:count])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("dtype", "item"), [(DType.FLOAT32, 4), (DType.BFLOAT16, 2)])
def test_costs_by_hand(variant: str, dtype: DType, item: int) -> None:
    whole = plan(variant, SEED, dtype)
    count = 22_544_384  # 2048 x 11008
    # 1 + e, a division, two products; one exponential.
    assert whole.cost.flops == {Precision.FP32: 90_177_536}
    assert whole.cost.special_function_ops == count
    assert whole.cost.compulsory.read_bytes == 2 * count * item
    assert whole.cost.compulsory.write_bytes == count * item
    assert whole.cost.issued == whole.cost.compulsory
    assert [launch.cost for launch in whole.launches] == [whole.cost]
    assert whole.working_set_bytes == 3 * count * item


@pytest.mark.parametrize("count", [1, 255, 256, 257, 100_003])
def test_every_element_has_a_thread_of_naive(count: int) -> None:
    (launch,) = plan("naive", SwigluSize(rows=1, cols=count)).launches
    assert launch.grid[0] * 256 >= count > (launch.grid[0] - 1) * 256


def test_vectorized_has_as_many_blocks_as_work_or_the_card_asks_for() -> None:
    def blocks(size: SwigluSize, dtype: DType) -> int:
        return plan("vectorized", size, dtype).launches[0].grid[0]

    # 256 threads of two packs: 2048 float32 or 4096 float16 a block.
    assert blocks(SwigluSize(rows=1, cols=2048), DType.FLOAT32) == 1
    assert blocks(SwigluSize(rows=1, cols=2049), DType.FLOAT32) == 2
    assert blocks(SwigluSize(rows=8192, cols=14336), DType.FLOAT16) == 28_672
    assert blocks(SwigluSize(rows=65536, cols=14336), DType.FLOAT32) == 132 * 256


def test_more_elements_than_a_grid_has_threads_are_refused_by_naive_alone() -> None:
    size = SwigluSize(rows=2**20, cols=2**19)  # 2^39 elements, 2^31 blocks
    with pytest.raises(NotSupportedError, match="2147483648 blocks"):
        plan("naive", size)
    assert plan("vectorized", size).launches[0].grid[0] == 132 * 256


def test_default_sizes() -> None:
    assert SWIGLU.sizes[SizeSet.SEED] == (SEED,)
    assert SWIGLU.sizes[SizeSet.DRAM] == (SwigluSize(rows=8192, cols=14336),)


def right(gate: Array, up: Array) -> Array:
    """float32 from beginning to end."""
    bounded = np.maximum(gate, np.float32(-128))
    e = np.exp(-np.abs(bounded))
    return np.asarray(bounded * (np.where(bounded < 0, e, np.float32(1)) / (1 + e)) * up)


def overflows(gate: Array, up: Array) -> Array:
    e = np.exp(gate)
    return np.asarray(gate * (e / (1 + e)) * up)


def masked_to_nan(gate: Array, up: Array) -> Array:
    return np.asarray(gate / (1 + np.exp(-gate)) * up)


def swapped(gate: Array, up: Array) -> Array:
    return right(up, gate)


def forgets_gate(gate: Array, up: Array) -> Array:
    return np.asarray(up / (1 + np.exp(-gate)))


def skips_tail(gate: Array, up: Array) -> Array:
    out = right(gate, up).reshape(-1)
    out[out.size // 4 * 4 :] = np.nan  # as the poison left it
    return out.reshape(gate.shape)


Result = Callable[[Array, Array], Array]
FAULTS: tuple[Result, ...] = (overflows, masked_to_nan, swapped, forgets_gate, skips_tail)


def passes(result: Result, size: SwigluSize, dtype: DType) -> bool:
    inputs = draw(size, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        out = result(*(inputs[name].astype(np.float32) for name in ("gate", "up")))
        narrow = out.astype(numpy_type(dtype))
    truth = SWIGLU.reference(inputs, size)
    return compare({"y": narrow}, truth, SWIGLU.tolerance(size, dtype)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [SwigluSize(rows=1, cols=1), SIZE], ids=str)
def test_a_right_result_passes(size: SwigluSize, dtype: DType) -> None:
    assert passes(right, size, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_a_wrong_result_is_refused(fault: Result, dtype: DType) -> None:
    assert not passes(fault, SIZE, dtype)
