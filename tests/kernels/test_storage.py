"""Storage types must be as wide as their DType says."""

import numpy as np
import pytest

from rooflens.kernels.spec import Size
from rooflens.kernels.storage import NUMPY_TYPES, numpy_type, smallest_subnormal, unit_roundoff
from rooflens.precision import DType


@pytest.mark.parametrize("dtype", list(DType))
def test_widths_agree(dtype: DType) -> None:
    assert numpy_type(dtype).itemsize == dtype.itemsize


@pytest.mark.parametrize("dtype", [one for one in NUMPY_TYPES if one is not DType.INT32])
def test_unit_roundoff_is_the_largest_error_of_rounding(dtype: DType) -> None:
    half_way = np.float64(1.0 + unit_roundoff(dtype))
    stored = numpy_type(dtype)
    assert float(half_way.astype(stored)) == 1.0  # ties go to even
    assert float((half_way + unit_roundoff(dtype) / 4).astype(stored)) == 1.0 + 2 * unit_roundoff(
        dtype
    )


@pytest.mark.parametrize(
    ("dtype", "exponent"), [(DType.FLOAT32, -149), (DType.FLOAT16, -24), (DType.BFLOAT16, -133)]
)
def test_nothing_smaller_is_stored(dtype: DType, exponent: int) -> None:
    assert smallest_subnormal(dtype) == 2.0**exponent
    stored = numpy_type(dtype)
    assert float(np.float64(2.0**exponent).astype(stored)) == 2.0**exponent
    assert float(np.float64(2.0**exponent / 2).astype(stored)) == 0.0  # ties go to even


def test_sizes_have_a_plain_text() -> None:
    assert str(Size()) == ""
