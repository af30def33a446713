// layer.unfused: one launch for each step. Queries, keys and values come from one product; rope
// turns queries and keys where they lie in memory; attention keeps its scores on the chip; a last
// product makes the output. What passes from launch to launch goes through memory.
#include "../common/layer.cuh"

extern "C" __global__ void __launch_bounds__(TileIn::THREADS)
    layer_project_qkv(const Element* __restrict__ x, const Element* __restrict__ w_qkv,
                      float* __restrict__ qkv, unsigned seq, unsigned width, unsigned hidden) {
  project<TileIn>(x, w_qkv, qkv, seq, width, hidden, AsTheyAre());
}

// One pair (2i, 2i + 1) of a query or key head per thread.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layer_rope(float* __restrict__ qkv, unsigned turned_heads, unsigned width,
               unsigned token_blocks, float step) {
  const unsigned position = block_position(token_blocks), place = place_in_token(token_blocks);
  if (place >= turned_heads * HALF) return;
  float2* pair = reinterpret_cast<float2*>(qkv + size_t(position) * width) + place;
  const float2 before = *pair;
  *pair = rotated(before.x, before.y, rotation_at(position, place % HALF, step));
}

LAYER_ATTENTION(layer_attention)

LAYER_PROJECT_OUT(layer_project_out)
