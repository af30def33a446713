"""Faults that the comparison must refuse in a matrix product, with no card."""

from collections.abc import Callable

import numpy as np
import pytest

from rooflens.kernels.gemm import GEMM, GemmSize
from rooflens.kernels.spec import Array
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType
from rooflens.profiler.verify import compare
from tests.planted_gemm import OVERFLOW_RESULT, OVERFLOW_SIZE, SIZE, overflowing_inputs

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
LARGE = GemmSize(m=6, n=7, k=8193)
TILE = 16

Result = Callable[[Array, Array], Array]


def right(a: Array, b: Array) -> Array:
    """In float32 from beginning to end."""
    return np.asarray(a @ b)


def skips_tail(a: Array, b: Array) -> Array:
    whole = a.shape[1] // TILE * TILE
    return right(a[:, :whole], b[:whole])


def transposed(a: Array, b: Array) -> Array:
    return right(a, b.reshape(b.shape[::-1]).T)


def wrong_stride(a: Array, b: Array) -> Array:
    """Rows of A start as far apart as those of B; what lies behind A is taken as zeros."""
    (m, k), n = a.shape, b.shape[1]
    flat = np.concatenate((a.reshape(-1), np.zeros(m * n + k, dtype=a.dtype)))
    return right(np.stack([flat[row * n : row * n + k] for row in range(m)]), b)


def edge_off_by_one(a: Array, b: Array) -> Array:
    c = right(a, b)
    c[:, -1] = 0.0
    return c


def rows_off_by_one(a: Array, b: Array) -> Array:
    """Rows from the second tile on are those of a row before."""
    c = right(a, b)
    c[TILE:] = c[TILE - 1 : -1].copy()
    return c


def narrow_sum(a: Array, b: Array) -> Array:
    """The sum kept in float16 from one product to the next."""
    total = np.zeros((a.shape[0], b.shape[1]), dtype=np.float16)
    with np.errstate(over="ignore", invalid="ignore"):
        for column, row in zip(a.T, b, strict=True):
            total = (total.astype(np.float32) + np.outer(column, row)).astype(np.float16)
    return total.astype(np.float32)


def narrow_tiles(a: Array, b: Array) -> Array:
    """The sums of a tile's products kept in float16, those of tiles in float32."""
    tiles = [
        narrow_sum(a[:, start : start + TILE], b[start : start + TILE])
        for start in range(0, a.shape[1], TILE)
    ]
    return np.asarray(np.sum(tiles, axis=0, dtype=np.float32))


def takes_one_twice(a: Array, b: Array) -> Array:
    c = right(a, b)
    c[-1, -1] += a[-1, -1] * b[-1, -1]
    return c


def drops_bits(a: Array, b: Array) -> Array:
    """Elements of A lose the bits that TF32 does not have."""
    cut = (np.ascontiguousarray(a).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return right(cut, b)


def drops_more_bits(a: Array, b: Array) -> Array:
    """Elements of A are rounded to bfloat16."""
    return right(a.astype(numpy_type(DType.BFLOAT16)).astype(np.float32), b)


FAULTS: tuple[Result, ...] = (
    skips_tail,
    transposed,
    wrong_stride,
    edge_off_by_one,
    narrow_sum,
)
FAULTS_OF_FLOAT32: tuple[Result, ...] = (
    narrow_tiles,
    takes_one_twice,
    drops_bits,
    drops_more_bits,
)


def passes(result: Result, size: GemmSize, dtype: DType) -> bool:
    inputs = GEMM.make_inputs(size, dtype, np.random.default_rng(1))
    out = result(*(inputs[name].astype(np.float32) for name in ("a", "b")))
    narrow = out.astype(numpy_type(dtype))
    return compare({"c": narrow}, GEMM.reference(inputs, size), GEMM.tolerance(size, dtype)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [GemmSize(m=1, n=1, k=1), SIZE, LARGE], ids=str)
def test_a_right_result_passes(size: GemmSize, dtype: DType) -> None:
    assert passes(right, size, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [SIZE, LARGE], ids=str)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_a_wrong_result_is_refused(fault: Result, size: GemmSize, dtype: DType) -> None:
    assert not passes(fault, size, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_off_by_one_are_refused(dtype: DType) -> None:
    assert not passes(rows_off_by_one, SIZE, dtype)


@pytest.mark.parametrize("size", [SIZE, LARGE], ids=str)
@pytest.mark.parametrize("fault", FAULTS_OF_FLOAT32, ids=lambda one: one.__name__)
def test_float32_forgives_not_one_product_or_bit(fault: Result, size: GemmSize) -> None:
    assert not passes(fault, size, DType.FLOAT32)


@pytest.mark.parametrize("size", [SIZE, LARGE], ids=str)
@pytest.mark.parametrize("fault", [narrow_tiles, drops_more_bits], ids=lambda one: one.__name__)
def test_float16_forgives_no_narrower_arithmetic(fault: Result, size: GemmSize) -> None:
    assert not passes(fault, size, DType.FLOAT16)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_that_pass_what_float16_holds(dtype: DType) -> None:
    inputs = overflowing_inputs(dtype)
    a, b = (inputs[name].astype(np.float32) for name in ("a", "b"))
    truth = GEMM.reference(inputs, OVERFLOW_SIZE)
    np.testing.assert_array_equal(truth["c"], OVERFLOW_RESULT)
    tolerance = GEMM.tolerance(OVERFLOW_SIZE, dtype)
    for result, passed in ((right, True), (narrow_sum, False)):
        out = {"c": result(a, b).astype(numpy_type(dtype))}
        assert compare(out, truth, tolerance).passed is passed
    assert not np.isfinite(narrow_sum(a, b)).any()
