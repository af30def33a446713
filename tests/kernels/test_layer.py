"""The layer family: reference, inputs, costs by hand, and faults that must be refused."""

import math

import numpy as np
import pytest

from rooflens.cost import Traffic
from rooflens.errors import NotSupportedError, UsageError
from rooflens.hardware import LaunchLimits
from rooflens.kernels.layer import KERNELS, LAYER, LayerSize
from rooflens.kernels.spec import Array, Plan
from rooflens.kernels.storage import numpy_type
from rooflens.precision import DType, Precision
from rooflens.profiler.verify import compare
from rooflens.terms import SizeSet
from tests.planted_layer import SIZE, WRONG_RESULT

H200 = LaunchLimits(compute_capability=(9, 0), sm_count=132, shared_bytes_per_block=227 * 1024)
DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
TINY = LayerSize(seq=2, hidden=4, heads=2, kv_heads=1, dim=2, causal=1)


def plan(variant: str, size: LayerSize, dtype: DType = DType.FLOAT32) -> Plan:
    (kernel,) = (one for one in KERNELS if one.variant == variant)
    return kernel.plan(size, dtype, H200)


def draw(size: LayerSize, dtype: DType = DType.FLOAT32) -> dict[str, Array]:
    return LAYER.make_inputs(size, dtype, np.random.default_rng(1))


def slow(inputs: dict[str, Array], size: LayerSize, fault: str = "right") -> Array:
    """The layer by loops over heads, tokens and pairs, with a place for each planted fault."""
    x, w_qkv, w_out = (inputs[name].astype(np.float64) for name in ("x", "w_qkv", "w_out"))
    heads, kv_heads, dim = size.heads, size.kv_heads, size.dim
    qkv = (x @ w_qkv).reshape(size.seq, heads + 2 * kv_heads, dim)
    for token in range(size.seq if fault != "no_rope" else 0):
        for head in range(heads + kv_heads):
            for pair in range(dim // 2):
                near, far = (2 * pair, 2 * pair + 1)
                if fault == "other_layout":
                    near, far = pair, pair + dim // 2
                angle = token * 10000.0 ** (-2 * pair / dim)
                a, b = qkv[token, head, near], qkv[token, head, far]
                qkv[token, head, near] = a * math.cos(angle) - b * math.sin(angle)
                qkv[token, head, far] = a * math.sin(angle) + b * math.cos(angle)
    attended = np.zeros((size.seq, heads, dim))
    scale = 1.0 if fault == "no_scale" else 1 / math.sqrt(dim)
    for head in range(heads):
        kv_head = head % kv_heads if fault == "wrong_group" else head // (heads // kv_heads)
        for token in range(size.seq):
            seen = token + 1 if size.causal and fault != "no_mask" else size.seq
            scores = qkv[:seen, heads + kv_head] @ qkv[token, head] * scale
            weights = np.exp(scores - scores.max())
            values = qkv[:seen, heads + kv_heads + kv_head]
            attended[token, head] = weights @ values / weights.sum()
    y: Array = attended.reshape(size.seq, heads * dim) @ w_out
    return y


def test_kv_heads_must_divide_heads() -> None:
    with pytest.raises(UsageError, match="kv_heads must divide heads"):
        LayerSize(seq=2, hidden=4, heads=3, kv_heads=2, dim=2)


@pytest.mark.parametrize("causal", [0, 1])
def test_reference_is_the_layer_by_loops(causal: int) -> None:
    size = LayerSize(seq=9, hidden=10, heads=4, kv_heads=2, dim=6, causal=causal)
    inputs = draw(size)
    np.testing.assert_allclose(LAYER.reference(inputs, size)["y"], slow(inputs, size), rtol=1e-12)


def test_reference_is_that_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    size = LayerSize(seq=11, hidden=10, heads=4, kv_heads=2, dim=6, causal=1)
    inputs = draw(size)
    x, w_qkv, w_out = (
        torch.from_numpy(inputs[name].astype(np.float64)) for name in ("x", "w_qkv", "w_out")
    )
    qkv = (x @ w_qkv).reshape(size.seq, 8, 3, 2)
    angles = torch.arange(size.seq)[:, None] * 10000.0 ** (
        -2 * torch.arange(3, dtype=torch.float64) / 6
    )
    turns = torch.polar(torch.ones_like(angles), angles)[:, None]
    turned = torch.view_as_real(torch.view_as_complex(qkv[:, :6].contiguous()) * turns)
    q, k = turned[:, :4].flatten(2).transpose(0, 1), turned[:, 4:].flatten(2).transpose(0, 1)
    v = qkv[:, 6:].flatten(2).transpose(0, 1)
    k, v = k.repeat_interleave(2, dim=0), v.repeat_interleave(2, dim=0)
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    truth = (attended.transpose(0, 1).flatten(1) @ w_out).numpy()
    np.testing.assert_allclose(LAYER.reference(inputs, size)["y"], truth, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_projections_of_the_inputs_are_exact_in_float32(dtype: DType) -> None:
    inputs = draw(SIZE, dtype)
    assert {one.dtype for one in inputs.values()} == {numpy_type(dtype)}
    x, w_qkv = inputs["x"].astype(np.float32), inputs["w_qkv"].astype(np.float32)
    exact = x.astype(np.float64) @ w_qkv.astype(np.float64)
    np.testing.assert_array_equal((x @ w_qkv).astype(np.float64), exact)
    assert np.abs(exact).max() <= 3.75
    assert (np.count_nonzero(w_qkv, axis=0) == 2).all()
    assert (np.count_nonzero(inputs["w_out"].astype(np.float32), axis=0) == 2).all()


def test_a_hidden_width_of_one_has_one_weight_a_column() -> None:
    inputs = draw(LayerSize(seq=2, hidden=1, heads=1, kv_heads=1, dim=2))
    assert (np.abs(inputs["w_qkv"]) == 1).all()


def test_costs_of_each_launch_by_hand() -> None:
    # 2 tokens, 4 wide; 2 query heads and 1 key head of 2; causal. A token's queries, keys and
    # values are (2 + 2) 2 = 8 wide.
    chain = plan("unfused", TINY, DType.FLOAT16)
    project, rope, attention, out = (launch.cost for launch in chain.launches)
    # A product of 2 x 4 by 4 x 8, float16 in, float32 out.
    assert project.flops == {Precision.FP32: 2 * 2 * 8 * 4}
    assert project.compulsory == Traffic(read_bytes=(8 + 32) * 2, write_bytes=16 * 4)
    # Each token has 3 heads of one pair: 6 operations a pair; exponential, sine, cosine.
    assert rope.flops == {Precision.FP32: 36}
    assert rope.special_function_ops == 18
    assert rope.compulsory == Traffic(read_bytes=48, write_bytes=48)
    # Each head sees 1 + 2 pairs: 6 in all. Two products of 2 x 2 operations a pair, a scaling, a
    # subtraction and a division a pair, and one addition in each of the 2 longer rows.
    assert attention.flops == {Precision.FP32: 6 * 8 + 6 * 3 + 2}
    assert attention.compulsory == Traffic(read_bytes=16 * 4, write_bytes=8 * 2)
    assert out.flops == {Precision.FP32: 2 * 2 * 4 * 4}
    assert out.compulsory == Traffic(read_bytes=(8 + 16) * 2, write_bytes=8 * 2)


def test_costs_of_the_whole_by_hand() -> None:
    cost = plan("unfused", TINY).cost
    assert cost.flops == {Precision.FP32: 128 + 36 + 68 + 64}
    # x, both weights (4 x 8 and 4 x 4), and y, once each.
    assert cost.compulsory == Traffic(read_bytes=(8 + 32 + 16) * 4, write_bytes=8 * 4)


def test_fusing_rope_saves_its_launch_and_its_traffic_and_no_operation() -> None:
    apart, fused = plan("unfused", SIZE), plan("fused_rope", SIZE)
    assert len(apart.launches) == 4
    assert len(fused.launches) == 3
    assert fused.cost.flops == apart.cost.flops
    assert fused.cost.special_function_ops == apart.cost.special_function_ops
    # 37 tokens, 6 heads of 8 turned elements of 4 bytes, read and written.
    saved = apart.cost.issued.total_bytes - fused.cost.issued.total_bytes
    assert saved == 2 * 37 * 6 * 8 * 4


def test_an_odd_head_cannot_be_turned() -> None:
    with pytest.raises(NotSupportedError, match="dim must be even, got 7"):
        plan("unfused", LayerSize(seq=2, hidden=4, heads=1, kv_heads=1, dim=7))


def test_positions_past_what_float32_angles_hold_are_refused() -> None:
    with pytest.raises(NotSupportedError, match=r"may be off by .* radians, over 0.25$"):
        plan("unfused", LayerSize(seq=20_000_000, hidden=4, heads=1, kv_heads=1, dim=4))


def test_matrices_of_over_4_billion_elements_are_planned_and_wider_tokens_are_not() -> None:
    """Offsets of rows are counted in 64 bits, columns in 32."""
    large = LayerSize(seq=200_000, hidden=32_768, heads=128, kv_heads=128, dim=128)
    assert large.seq * large.width > 2**32
    assert plan("fused_rope", large).launches
    wide = LayerSize(seq=1, hidden=4, heads=2**22, kv_heads=2**22, dim=172)
    assert wide.turned.heads * wide.dim < 2**31
    with pytest.raises(NotSupportedError, match="in 32 bits, at most 2147483647, got 2164260864"):
        plan("fused_rope", wide)


def test_a_head_over_256_is_refused_with_the_reason() -> None:
    with pytest.raises(NotSupportedError, match="dim is at most 256 here, got 258"):
        plan("fused_rope", LayerSize(seq=2, hidden=4, heads=1, kv_heads=1, dim=258))


def test_the_right_form_passes() -> None:
    inputs = draw(SIZE)
    truth = LAYER.reference(inputs, SIZE)
    found = {"y": slow(inputs, SIZE).astype(np.float32)}
    assert compare(found, truth, LAYER.tolerance(SIZE, DType.FLOAT32)).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", WRONG_RESULT)
def test_a_fault_is_refused(fault: str, dtype: DType) -> None:
    inputs = draw(SIZE, dtype)
    found = {"y": slow(inputs, SIZE, fault).astype(numpy_type(dtype))}
    verdict = compare(found, LAYER.reference(inputs, SIZE), LAYER.tolerance(SIZE, dtype))
    assert not verdict.passed


@pytest.mark.parametrize("dtype", DTYPES)
def test_at_the_seed_size_the_limit_is_under_half_of_the_results_spread(dtype: DType) -> None:
    (size,) = LAYER.sizes[SizeSet.SEED]
    spread = LAYER.reference(draw(size, dtype), size)["y"].std()
    assert LAYER.tolerance(size, dtype).absolute < spread / 2
