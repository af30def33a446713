"""What attention costs: pairs of queries and keys, and what tiles of them make a variant do."""

from rooflens.cost import Traffic
from rooflens.kernels.attention.family import AttentionSize
from rooflens.precision import DType, Precision

PRECISIONS = {
    DType.FLOAT16: Precision.FP16_TENSOR_FP32_ACC,
    DType.BFLOAT16: Precision.BF16_TENSOR_FP32_ACC,
}


def query_bytes(size: AttentionSize, dtype: DType) -> int:
    """Bytes of the queries, which are those of the output."""
    return size.heads * size.seq * size.dim * dtype.itemsize


def key_bytes(size: AttentionSize, dtype: DType) -> int:
    """Bytes of the keys, which are those of the values."""
    return size.kv_heads * size.seq * size.dim * dtype.itemsize


def compulsory(size: AttentionSize, dtype: DType) -> Traffic:
    """Queries, keys and values read once, the output written once."""
    queries = query_bytes(size, dtype)
    return Traffic(read_bytes=queries + 2 * key_bytes(size, dtype), write_bytes=queries)


def visible_pairs(size: AttentionSize) -> int:
    """Pairs of a query and a key that it sees, over all heads; what is masked is not done."""
    per_head = size.seq * (size.seq + 1) // 2 if size.causal else size.seq**2
    return size.heads * per_head


def product_flops(size: AttentionSize) -> int:
    """Of each of the two products (queries by keys, weights by values): 2 dim a visible pair."""
    return 2 * size.dim * visible_pairs(size)


def softmax_flops(size: AttentionSize) -> int:
    """A subtraction and a division a pair, and one addition less than pairs in each row.

    As in softmax: exponentials are apart, comparisons are none.
    """
    return 3 * visible_pairs(size) - size.heads * size.seq


def total_flops(size: AttentionSize, products: Precision) -> dict[Precision, int]:
    """All of it, with a multiplication by the scale a pair, the two products in their precision."""
    flops = {Precision.FP32: visible_pairs(size) + softmax_flops(size)}
    flops[products] = flops.get(products, 0) + 2 * product_flops(size)
    return flops


def keys_before(size: AttentionSize, row_end: int) -> int:
    """How many keys, counted from the first, some query before `row_end` sees."""
    return min(size.seq, row_end) if size.causal else size.seq


def tiles_per_head(size: AttentionSize, rows: int, keys: int) -> int:
    """Tiles of `keys` keys that blocks of `rows` query rows go through, over one head."""
    starts = range(0, size.seq, rows)
    return sum(-(-keys_before(size, start + rows) // keys) for start in starts)


def keys_read_per_head(size: AttentionSize, rows: int, keys: int) -> int:
    """Keys that these tiles hold, as far as there are any: a block reads each of them once."""
    starts = range(0, size.seq, rows)
    return sum(
        min(size.seq, -(-keys_before(size, start + rows) // keys) * keys) for start in starts
    )


def tiled_reads(size: AttentionSize, dtype: DType, rows: int, keys: int) -> int:
    """Bytes: each block reads its queries once, and keys and values of all its tiles."""
    per_head = 2 * keys_read_per_head(size, rows, keys) * size.dim
    return query_bytes(size, dtype) + size.heads * per_head * dtype.itemsize
