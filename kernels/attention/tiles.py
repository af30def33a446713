"""Tile shapes of common/attention_tile.cuh, by the width of heads."""

from dataclasses import dataclass

from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.precision import DType

WIDEST = 256  # elements per head that the variants on ordinary pipes are made for
ROW_THREADS = 16  # threads of a row


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTile:
    """Tile shape of common/attention_tile.cuh for one width of heads."""

    dim: int
    rows: int
    keys: int
    thread_rows: int

    @property
    def threads(self) -> int:
        return self.rows // self.thread_rows * ROW_THREADS

    @property
    def shared_bytes(self) -> int:
        """Queries, keys, values and weights in float32, rows padded by four."""
        stride = -(-self.dim // ROW_THREADS) * ROW_THREADS + 4
        floats = (self.rows + 2 * self.keys) * stride + self.rows * (self.keys + 4)
        return floats * DType.FLOAT32.itemsize

    @property
    def special_per_tile(self) -> int:
        """An exponential a pair, and one in each of a row's 16 threads that rescales the row."""
        return self.rows * (self.keys + ROW_THREADS)

    @property
    def defines(self) -> dict[str, str]:
        return {
            "TILE_ROWS": str(self.rows),
            "TILE_KEYS": str(self.keys),
            "THREAD_ROWS": str(self.thread_rows),
        }


def row_tile(dim: int, limits: LaunchLimits) -> RowTile:
    """The tile for heads of `dim` elements. Raises NotSupportedError where none fits."""
    if dim > WIDEST:
        raise NotSupportedError(
            f"dim is at most {WIDEST} here, got {dim}: output sums no longer fit registers"
        )
    rows, keys, thread_rows = (
        (64, 64, 4) if dim <= 64 else (64, 32, 4) if dim <= 128 else (32, 16, 2)
    )
    tile = RowTile(dim=dim, rows=rows, keys=keys, thread_rows=thread_rows)
    if tile.shared_bytes > limits.shared_bytes_per_block:
        raise NotSupportedError(
            f"tiles need {tile.shared_bytes} bytes of shared memory a block, this card gives "
            f"{limits.shared_bytes_per_block}"
        )
    return tile
