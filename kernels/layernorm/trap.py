"""The numerical trap of layernorm: rows whose mean is far above their deviation."""

import numpy as np

from rooflens.kernels.layernorm.family import LAYERNORM, LayerNormSize
from rooflens.kernels.spec import Array
from rooflens.precision import DType

TRAP_MEAN = 1e4
TRAP_DEVIATION = 1e-2
TRAP_SIZE = LayerNormSize(rows=128, cols=4096)
TRAP_DTYPE = DType.FLOAT32  # a float16 near 1e4 has a step of 8, a bfloat16 one of 64


def trap_inputs(size: LayerNormSize, rng: np.random.Generator) -> dict[str, Array]:
    """x [rows, cols] with mean 1e4 and deviation 1e-2; gamma 1 and beta 0. All float32.

    Errors of y are then in deviations. What float32 makes of such rows: x^2 is near 1e8, where
    numbers lie 8 apart, while the variance is 1e-4, so that E[x^2] - mean^2 holds no digit of it
    and may be negative. x itself lies on steps of 2^-10 = 0.00098, which the reference sees as
    stored. A mean kept in float32 errs by half such a step or more, a 20th of a deviation: that
    much is left to every variant that does not correct it.
    """
    x = rng.normal(TRAP_MEAN, TRAP_DEVIATION, (size.rows, size.cols)).astype(np.float32)
    return {
        "x": x,
        "gamma": np.ones(size.cols, dtype=np.float32),
        "beta": np.zeros(size.cols, dtype=np.float32),
    }


def trap_errors(y: Array, inputs: dict[str, Array]) -> Array:
    """Root mean square error of each row of y, in deviations; NaN for a row of which y holds NaN.

    A result of zeros errs by about 1. `inputs` are those of trap_inputs, y is [rows, cols].
    """
    truth = LAYERNORM.reference(inputs, LayerNormSize(rows=y.shape[0], cols=y.shape[1]))["y"]
    errors: Array = np.sqrt(np.square(y - truth).mean(axis=1))
    return errors
