"""How tensors are stored on the host, and what CUDA sources call their element type."""

from typing import Any

import ml_dtypes
import numpy as np

from rooflens.precision import DType

NUMPY_TYPES: dict[DType, Any] = {
    DType.FLOAT32: np.float32,
    DType.FLOAT16: np.float16,
    DType.BFLOAT16: ml_dtypes.bfloat16,
    DType.INT32: np.int32,
}

ELEMENT_DEFINES: dict[DType, str] = {
    DType.FLOAT32: "ELEMENT_FLOAT32",
    DType.FLOAT16: "ELEMENT_FLOAT16",
    DType.BFLOAT16: "ELEMENT_BFLOAT16",
}


def numpy_type(dtype: DType) -> np.dtype[Any]:
    """The NumPy type that stores `dtype`; bfloat16 comes from ml_dtypes."""
    stored: np.dtype[Any] = np.dtype(NUMPY_TYPES[dtype])
    return stored


def element_define(dtype: DType) -> dict[str, str]:
    """The -D that makes `Element` of common/element.cuh that type."""
    return {ELEMENT_DEFINES[dtype]: "1"}


def unit_roundoff(dtype: DType) -> float:
    """Half the distance from 1 to the next number: what rounding to `dtype` errs by at most."""
    return {DType.FLOAT32: 2.0**-24, DType.FLOAT16: 2.0**-11, DType.BFLOAT16: 2.0**-8}[dtype]


def smallest_subnormal(dtype: DType) -> float:
    """The smallest positive number: rounding to `dtype` errs by up to half of it next to zero."""
    return float(
        ml_dtypes.finfo(numpy_type(dtype)).smallest_subnormal  # type: ignore[no-untyped-call]
    )
