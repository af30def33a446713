"""On a card: every layernorm variant at every kind of size, planted faults, and the trap."""

import numpy as np
import pytest

from rooflens.kernels.layernorm import KERNELS, LAYERNORM, LayerNormSize
from rooflens.kernels.layernorm.trap import TRAP_DTYPE, TRAP_SIZE, trap_errors, trap_inputs
from rooflens.kernels.spec import Array, KernelSpec
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.cuda import CudaDevice
from rooflens.profiler.verify import compare
from rooflens.terms import Status
from tests.on_card import QUICK, assert_refused, assert_right_and_timed
from tests.planted_layernorm import SIZE, WRONG_RESULT, planted

SIZES = [
    (1, 1),
    (1, 2),
    (3, 1023),
    (5, 31),
    (128, 4096),
    (4096, 1025),
    (33, 1032),  # whole packs of every type, but no multiple of a block
    (70_000, 7),
    (2, 70_000),  # more than registers hold
    (1, 1_048_577),
]
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


def outputs(
    device: CudaDevice,
    kernel: KernelSpec[LayerNormSize],
    size: LayerNormSize,
    inputs: dict[str, Array],
    dtype: DType,
) -> dict[str, Array]:
    with device.execute(device.prepare(kernel, size, dtype)) as execution:
        return execution.run_checked(inputs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_variant_is_right_and_timed(
    device: CudaDevice, kernel: KernelSpec[LayerNormSize], size: tuple[int, int], dtype: DType
) -> None:
    rows, cols = size
    row = device.run(kernel, LayerNormSize(rows=rows, cols=cols), dtype, QUICK)
    assert_right_and_timed(row)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [515, 520])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.name)
def test_nan_and_infinity_are_as_defined(
    device: CudaDevice, kernel: KernelSpec[LayerNormSize], cols: int, dtype: DType
) -> None:
    size = LayerNormSize(rows=6, cols=cols)
    inputs = LAYERNORM.make_inputs(size, dtype, np.random.default_rng(0))
    for row, poison in enumerate((np.nan, np.inf, -np.inf)):
        inputs["x"][row, 7] = numpy_type(dtype).type(poison)
    found = compare(
        outputs(device, kernel, size, inputs, dtype),
        LAYERNORM.reference(inputs, size),
        LAYERNORM.tolerance(size, dtype),
    )
    assert found.passed, found.failure


def test_the_control_among_the_planted_passes(device: CudaDevice) -> None:
    row = device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)
    assert row.status is Status.OK, row.reason


@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_planted_fault_is_refused_and_not_timed(device: CudaDevice, fault: str) -> None:
    device.run(planted("right"), SIZE, DType.FLOAT32, QUICK)  # leaves a right result about
    row = device.run(planted(fault), SIZE, DType.FLOAT32, QUICK)
    assert_refused(row)


def trapped(device: CudaDevice, variant: str) -> Array:
    """Errors of a variant's rows in the trap, in deviations; NaN where y is."""
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    inputs = trap_inputs(TRAP_SIZE, np.random.default_rng(0))
    return trap_errors(outputs(device, kernel, TRAP_SIZE, inputs, TRAP_DTYPE)["y"], inputs)


def test_the_trap_shows_what_sum_squares_costs_beside_welford(device: CudaDevice) -> None:
    wrong, welford = trapped(device, "sum_squares"), trapped(device, "welford")
    # NaN, 3.3 for 1, or about zero where the deviation is about 1: no row is of use.
    assert (np.isnan(wrong) | (wrong > 0.5)).all()
    # The mean's own rounding, a few steps of 2^-10 at most, of which each is 0.093.
    assert welford.max() < 0.25
    assert np.median(welford) < 0.1


@pytest.mark.parametrize("variant", ["naive", "warp_reduce"])
def test_other_variants_err_by_the_rounding_of_the_mean(device: CudaDevice, variant: str) -> None:
    assert trapped(device, variant).max() < 0.25


def test_two_pass_warp_is_as_good_in_the_trap_as_anywhere(device: CudaDevice) -> None:
    assert trapped(device, "two_pass_warp").max() < 1e-6
