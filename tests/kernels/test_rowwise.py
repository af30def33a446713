"""What row-wise families share: rounding of results, and rows kept in registers."""

import numpy as np
import pytest

from rooflens.kernels.rowwise import KeptRow, stored
from rooflens.kernels.spec import Tolerance
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType

FLOAT32 = Tolerance(absolute=1e-9, relative=1e-6, reason="float32: because")


def test_float32_results_are_not_rounded_again() -> None:
    assert stored(DType.FLOAT32, FLOAT32) == FLOAT32


def test_rounding_to_float16_by_hand() -> None:
    found = stored(DType.FLOAT16, FLOAT32)
    # 11 significant bits: 2^-11 of the value; the smallest float16 is 2^-24.
    assert found.relative == pytest.approx(1e-6 * (1 + 2**-11) + 2**-11, rel=1e-12)
    assert found.absolute == pytest.approx(1e-9 * (1 + 2**-11) + 2**-25, rel=1e-12)
    assert found.reason.startswith("float16: the result is rounded once")


def test_rounding_to_bfloat16_by_hand() -> None:
    found = stored(DType.BFLOAT16, FLOAT32)
    # 8 significant bits: 2^-8 of the value; the smallest bfloat16 is 2^-133.
    assert found.relative == pytest.approx(1e-6 * (1 + 2**-8) + 2**-8, rel=1e-12)
    assert found.absolute == pytest.approx(1e-9 * (1 + 2**-8) + 2**-134, rel=1e-12)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_rounding_is_within_and_near_its_limit(dtype: DType) -> None:
    exact = Tolerance(absolute=0.0, relative=0.0, reason="float32: exact")
    limit = stored(dtype, exact)
    rng = np.random.default_rng(0)
    values = np.ldexp(rng.uniform(0.5, 1.0, 40_000), rng.integers(-30, 12, 40_000))
    share = np.abs(values.astype(numpy_type(dtype)).astype(np.float64) - values) / (
        limit.absolute + limit.relative * values
    )
    assert 0.9 < share.max() <= 1.0


@pytest.mark.parametrize(
    ("cols", "dtype", "threads", "width", "accesses", "kept"),
    [
        (4096, DType.FLOAT32, 256, 4, 4, 4096),  # 16 elements a thread
        (4096, DType.FLOAT16, 256, 8, 2, 4096),
        (4100, DType.FLOAT32, 256, 4, 5, 4100),  # 1025 accesses
        (4100, DType.FLOAT16, 256, 1, 17, 4100),  # 8200 bytes: not every row on 16
        (1023, DType.FLOAT32, 64, 1, 16, 1023),
        (1, DType.BFLOAT16, 32, 1, 1, 1),
        (70_000, DType.FLOAT32, 1024, 4, 8, 32_768),  # 32 elements a thread are kept
        (70_000, DType.FLOAT16, 1024, 8, 4, 32_768),
        (70_001, DType.FLOAT32, 256, 1, 32, 8_192),
    ],
)
def test_rows_kept_in_registers(
    cols: int, dtype: DType, threads: int, width: int, accesses: int, kept: int
) -> None:
    row = KeptRow(cols=cols, dtype=dtype, threads=threads)
    assert (row.width, row.accesses, row.kept) == (width, accesses, kept)
    assert row.beyond == cols - kept
    assert row.defines == {"ROW_WIDTH": str(width), "ROW_ACCESSES": str(accesses)}
