"""Plans and costs of the attention variants, by hand."""

import pytest

from rooflens.cost import Cost, Traffic
from rooflens.errors import NotSupportedError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.attention import KERNELS, AttentionSize
from rooflens.kernels.spec import Plan
from rooflens.precision import DType, Precision

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
TURING = LaunchLimits(compute_capability=(7, 5), sm_count=40, shared_bytes_per_block=64 * 1024)
F32, F16, BF16 = DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16
SEED = AttentionSize(heads=4, kv_heads=4, seq=2048, dim=64)
ODD = AttentionSize(heads=4, kv_heads=2, seq=70, dim=48, causal=1)
SMALL = AttentionSize(heads=2, kv_heads=1, seq=3, dim=4, causal=1)
VARIANTS = [kernel.variant for kernel in KERNELS]
FLASH = VARIANTS[1:]
CASES = [(kernel.variant, dtype) for kernel in KERNELS for dtype in kernel.dtypes]


def plan(variant: str, size: AttentionSize, dtype: DType, limits: LaunchLimits = H200) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, limits)


def one_of(variant: str) -> DType:
    """A type that the variant has."""
    return F32 if variant == "flash_v1" else F16


def wide(heads: int = 1, seq: int = 100, dim: int = 64, causal: int = 0) -> AttentionSize:
    return AttentionSize(heads=heads, kv_heads=1, seq=seq, dim=dim, causal=causal)


@pytest.mark.parametrize(("variant", "dtype"), CASES)
def test_costs_of_the_definition_by_hand(variant: str, dtype: DType) -> None:
    """2048^2 pairs in each of 4 heads are 16 777 216; a product takes 128 operations of each."""
    cost = plan(variant, SEED, dtype).cost
    products = 2 * 2_147_483_648
    others = 16_777_216 + 3 * 16_777_216 - 8192  # scale; subtract, divide and add in 8192 rows
    assert others == 67_100_672
    if variant == "flash_tensor_core":
        precision = Precision.FP16_TENSOR_FP32_ACC
        if dtype is BF16:
            precision = Precision.BF16_TENSOR_FP32_ACC
        assert cost.flops == {Precision.FP32: others, precision: products}
    else:
        assert cost.flops == {Precision.FP32: 4_362_067_968}
        assert products + others == 4_362_067_968
    tensor = 524_288 * (4 if dtype is F32 else 2)
    assert cost.compulsory == Traffic(read_bytes=3 * tensor, write_bytes=tensor)


@pytest.mark.parametrize(("variant", "dtype"), [one for one in CASES if "tensor" not in one[0]])
def test_causal_counts_what_is_visible_alone(variant: str, dtype: DType) -> None:
    """Rows of 1, 2 and 3 keys: 6 pairs in each of two heads, 8 operations each a product.

    12 by the scale; 12 subtractions, 12 divisions and 0 + 1 + 2 additions a head. Keys and values
    have one head for two of queries.
    """
    cost = plan(variant, SMALL, dtype).cost
    assert cost.flops == {Precision.FP32: 96 + 96 + 12 + 12 + 12 + 6}
    item = 4 if dtype is F32 else 2
    assert cost.compulsory == Traffic(read_bytes=(24 + 12 + 12) * item, write_bytes=24 * item)


def test_causal_on_tensor_cores_counts_what_is_visible_alone() -> None:
    """70 * 71 / 2 pairs in each of 4 heads are 9940; 96 operations each a product."""
    cost = plan("flash_tensor_core", ODD, F16).cost
    assert cost.flops == {
        Precision.FP16_TENSOR_FP32_ACC: 2 * 954_240,
        Precision.FP32: 9940 + 3 * 9940 - 280,
    }
    assert cost.compulsory == Traffic(read_bytes=26_880 + 2 * 13_440, write_bytes=26_880)


def work(flops: int, special: int, compulsory: tuple[int, int], issued: tuple[int, int]) -> Cost:
    """In float32; traffic as bytes read and written."""
    (read, write), (issued_read, issued_write) = compulsory, issued
    return Cost(
        flops={Precision.FP32: flops},
        special_function_ops=special,
        compulsory=Traffic(read_bytes=read, write_bytes=write),
        issued=Traffic(read_bytes=issued_read, write_bytes=issued_write),
    )


def test_launches_of_naive_by_hand() -> None:
    """A warp has 32 keys of a query, of which it reads each element once; a matrix has 64 MiB."""
    whole = plan("naive", SEED, F32)
    matrix, tensor = 67_108_864, 2_097_152
    scores, softmax, values = (launch.cost for launch in whole.launches)
    # Queries once for each of 64 warps along a row; a key element for each pair and column.
    read = 64 * tensor + 4_294_967_296
    assert scores == work(
        2_147_483_648 + 16_777_216, 0, (2 * tensor, matrix), (4_429_185_024, matrix)
    )
    assert read == 4_429_185_024
    # Scores for the maximum, for the sum and for the result, with an exponential in the last two.
    assert softmax == work(50_323_456, 33_554_432, (matrix, matrix), (3 * matrix, matrix))
    # Probabilities once for each of two warps along 64 columns.
    assert values == work(
        2_147_483_648, 0, (matrix + tensor, tensor), (2 * matrix + 4_294_967_296, tensor)
    )
    assert whole.cost.special_function_ops == 33_554_432
    assert whole.cost.issued == Traffic(read_bytes=9_059_696_640, write_bytes=136_314_880)


def test_launches_of_naive_by_hand_where_causal() -> None:
    """9940 visible pairs in 4 heads, 2-byte tensors of 26 880 and 13 440 bytes."""
    whole = plan("naive", ODD, F16)
    scores, softmax, values = (launch.cost for launch in whole.launches)
    # Warps along a row: 1 for 32 rows, 2 for 32 and 3 for 6, together 114; 96 bytes in 4 heads.
    assert scores == work(954_240 + 9940, 0, (40_320, 39_760), (114 * 4 * 96 + 9940 * 96, 39_760))
    assert softmax == work(29_540, 19_880, (39_760, 39_760), (119_280, 39_760))
    assert values == work(954_240, 0, (53_200, 26_880), (2 * 39_760 + 954_240, 26_880))
    assert whole.cost.issued == Traffic(read_bytes=2_151_056, write_bytes=106_400)
    assert [launch.grid[0] for launch in whole.launches] == [4 * 9 * 3, 4 * 70, 4 * 9 * 2]
    assert {launch.block for launch in whole.launches} == {(256, 1, 1)}
    square = 4 * 70 * 70 * 4
    assert whole.working_set_bytes == 26_880 + 2 * 13_440 + 26_880 + 2 * square


@pytest.mark.parametrize(
    ("variant", "size", "dtype", "read", "written"),
    [
        # 64 blocks of 32 rows a head go through all keys and values, 2 * 131 072 elements. Every
        # row is written in 64 tiles and once at the end; each time but the first it is read before.
        (
            "flash_v1",
            SEED,
            F32,
            (524_288 + 4 * 64 * 262_144 + 64 * 524_288) * 4,
            (1 + 64) * 524_288 * 4,
        ),
        ("flash_v2", SEED, F32, (524_288 + 4 * 32 * 262_144) * 4, 524_288 * 4),  # 64 rows
        ("flash_v3", SEED, F32, (524_288 + 4 * 16 * 262_144) * 4, 524_288 * 4),  # 128 rows
        ("flash_v3", SEED, BF16, (524_288 + 4 * 16 * 262_144) * 2, 524_288 * 2),
        ("flash_tensor_core", SEED, F16, (524_288 + 4 * 16 * 262_144) * 2, 524_288 * 2),  # 128
        # Blocks see 32, 64 and all 70 keys: 166 of each head, 96 elements a key and value. Rows are
        # in 32 * 1 + 32 * 2 + 6 * 3 = 114 tiles a head.
        (
            "flash_v1",
            ODD,
            F32,
            (13_440 + 4 * 166 * 96 + 4 * 114 * 48) * 4,
            (13_440 + 4 * 114 * 48) * 4,
        ),
        ("flash_v2", ODD, F16, (13_440 + 4 * (64 + 70) * 96) * 2, 26_880),
        ("flash_v3", ODD, F16, (13_440 + 4 * 70 * 96) * 2, 26_880),
        ("flash_tensor_core", ODD, F16, (13_440 + 4 * 70 * 96) * 2, 26_880),
    ],
)
def test_issued_bytes_of_flash_by_hand(
    variant: str, size: AttentionSize, dtype: DType, read: int, written: int
) -> None:
    whole = plan(variant, size, dtype)
    assert whole.cost.issued == Traffic(read_bytes=read, write_bytes=written)
    assert [launch.cost for launch in whole.launches] == [whole.cost]


def test_a_block_reads_no_tile_that_none_of_its_rows_sees() -> None:
    """Causal rows 0 to 127 see 128 keys, whole tiles of 32; rows 128 to 199 all 200."""
    cost = plan("flash_v3", wide(seq=200, causal=1), F16).cost
    assert cost.issued.read_bytes == (200 + 2 * (128 + 200)) * 64 * 2


@pytest.mark.parametrize(
    ("variant", "size", "exponentials"),
    [
        # Of each lane of a row's warp two a tile: 4 heads * 2048 rows * 64 tiles * 64.
        ("flash_v1", SEED, 33_554_432),
        ("flash_v1", ODD, 4 * 6 * 32 * 64),  # 1 + 2 + 3 tiles, rows past the end included
        # A row of a tile has 64 pairs and 16 threads.
        ("flash_v2", SEED, 4 * 2048 * 32 * 80),
        ("flash_v2", ODD, 4 * 3 * 64 * 80),  # 1 + 2 tiles
        ("flash_v2", wide(seq=64, dim=128), 2 * 64 * (32 + 16)),
        ("flash_v2", wide(seq=64, dim=256), 2 * 4 * 32 * (16 + 16)),
        # 32 keys and 4 steps a row and thread.
        ("flash_v3", SEED, 4 * 2048 * 64 * 36),
        ("flash_v3", ODD, 4 * 3 * 128 * 36),
        ("flash_v3", wide(seq=64, dim=128), 2 * 128 * 2 * 36),  # two threads a row
        ("flash_v3", wide(seq=64, dim=256), 4 * 64 * 4 * (16 + 2)),  # four, tiles of 16
        # A row of a tile has 64 pairs and 4 lanes.
        ("flash_tensor_core", SEED, 4 * 2048 * 32 * 68),
        ("flash_tensor_core", ODD, 4 * (1 + 1 + 1 + 1 + 2) * 16 * 68),  # by warps of 16 rows
    ],
)
def test_exponentials_by_hand(variant: str, size: AttentionSize, exponentials: int) -> None:
    assert plan(variant, size, one_of(variant)).cost.special_function_ops == exponentials


@pytest.mark.parametrize(
    ("variant", "dim", "threads", "rows"),
    [
        ("flash_v1", 1, 1024, 32),
        ("flash_v1", 605, 1024, 32),
        ("flash_v2", 1, 256, 64),
        ("flash_v2", 65, 256, 64),
        ("flash_v2", 129, 256, 32),
        ("flash_v3", 64, 128, 128),
        ("flash_v3", 65, 256, 128),
        ("flash_v3", 128, 256, 128),
        ("flash_v3", 129, 256, 64),
        ("flash_v3", 256, 256, 64),
        ("flash_tensor_core", 16, 256, 128),
        ("flash_tensor_core", 128, 256, 128),
    ],
)
@pytest.mark.parametrize("seq", [1, 31, 32, 128, 129, 1000])
def test_every_row_has_its_threads(
    variant: str, dim: int, threads: int, rows: int, seq: int
) -> None:
    (launch,) = plan(variant, wide(heads=3, seq=seq, dim=dim), one_of(variant)).launches
    assert launch.block == (threads, 1, 1)
    assert launch.grid == (3 * ((seq + rows - 1) // rows), 1, 1)


@pytest.mark.parametrize(
    ("variant", "dim", "shared_bytes"),
    [
        ("flash_v1", 48, 32 * (48 + 49 + 48) * 4),  # rows of keys are of odd length
        ("flash_v1", 7, 32 * 3 * 7 * 4),
        ("flash_v2", 48, (192 * 52 + 64 * 68) * 4),  # rows four longer than they are wide
        ("flash_v2", 64, (192 * 68 + 64 * 68) * 4),
        ("flash_v2", 65, (128 * 84 + 64 * 36) * 4),  # 65 is padded to 80
        ("flash_v2", 128, (128 * 132 + 64 * 36) * 4),
        ("flash_v2", 256, (64 * 260 + 32 * 20) * 4),
        ("flash_v3", 256, 0),
        ("flash_tensor_core", 48, 4 * 64 * 56 * 2),  # two stages of keys and values
        ("flash_tensor_core", 128, 4 * 64 * 136 * 2),
    ],
)
def test_shared_memory_by_hand(variant: str, dim: int, shared_bytes: int) -> None:
    (launch,) = plan(variant, wide(dim=dim), one_of(variant)).launches
    assert launch.dynamic_shared_bytes == shared_bytes


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("variant", VARIANTS)
def test_sources_are_told_width_mask_and_threads(variant: str, causal: int) -> None:
    whole = plan(variant, wide(dim=96, causal=causal), one_of(variant))
    assert (whole.defines["DIM"], whole.defines["CAUSAL"]) == ("96", str(causal))
    assert {int(whole.defines["BLOCK_THREADS"])} == {one.block[0] for one in whole.launches}
    assert ("ELEMENT_FLOAT32" in whole.defines) == (variant == "flash_v1")


@pytest.mark.parametrize(
    ("variant", "size", "limits", "reason"),
    [
        ("flash_v1", wide(dim=606), H200, r"32 rows x 606 need 232832 bytes .* gives 232448"),
        ("flash_v2", wide(dim=257), H200, r"dim is at most 256 here, got 257: output sums"),
        ("flash_v2", wide(dim=64), TURING, r"tiles need 69632 bytes .* this card gives 65536"),
        ("flash_v3", wide(dim=257), H200, r"dim is at most 256 here, got 257: a row's query"),
        ("flash_tensor_core", wide(dim=72), H200, r"16 columns deep, dim 72 is no multiple"),
        ("flash_tensor_core", wide(dim=144), H200, r"dim is at most 128 here, got 144: a warp's"),
        ("flash_tensor_core", wide(dim=64), TURING, r"capability 8\.0, this card has 7\.5"),
        ("naive", wide(seq=2**20), H200, r"attention_scores at .* need 4294967296 blocks"),
        (
            "naive",
            wide(heads=2**21, seq=1024),
            H200,
            r"attention_scores at .* a launch has at most",
        ),
        ("naive", wide(heads=2**30, seq=2, dim=1), H200, r"attention_softmax at .* 2147483648 bl"),
        ("naive", wide(heads=2**30, seq=1, dim=64), H200, r"attention_values at .* 2147483648 bl"),
        ("flash_v1", wide(heads=2**30, seq=33), H200, r"flash_v1 at .* need 2147483648 blocks"),
        ("flash_v2", wide(heads=2**30, seq=65), H200, r"flash_v2 at .* need 2147483648 blocks"),
        ("flash_v3", wide(heads=2**30, seq=129), H200, r"flash_v3 at .* need 2147483648 blocks"),
        (
            "flash_tensor_core",
            wide(heads=2**30, seq=129),
            H200,
            r"flash_tensor_core at .* need 2147483648 blocks, a launch has at most 2147483647",
        ),
    ],
)
def test_what_a_variant_cannot_do_has_its_reason(
    variant: str, size: AttentionSize, limits: LaunchLimits, reason: str
) -> None:
    with pytest.raises(NotSupportedError, match=reason):
        plan(variant, size, one_of(variant), limits)


@pytest.mark.parametrize("variant", FLASH)
def test_long_sequences_are_for_one_launch(variant: str) -> None:
    assert plan(variant, wide(seq=2**20), one_of(variant)).launches


@pytest.mark.parametrize("dim", [1, 7, 257, 1000])
def test_naive_takes_any_width(dim: int) -> None:
    assert plan("naive", wide(dim=dim), F32, TURING).launches
