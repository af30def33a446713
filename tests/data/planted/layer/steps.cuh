// An attention layer in the four launches of layer.unfused, written plainly, with a place for each
// planted fault. Every step goes over its results in strides of the grid, whatever its launch is.
#pragma once
#include "element.cuh"
#include "rope.cuh"
#include "softmax.cuh"

#ifndef SCALE
#define SCALE scale
#endif
#ifndef KV_HEAD
#define KV_HEAD (head / (heads / kv_heads))
#endif
#ifndef SEES
#define SEES(row, key) (!CAUSAL || (key) <= (row))
#endif
#ifndef TURNS
#define TURNS 1
#endif
#ifndef PARTNERS
#define PARTNERS 2 * pair, 2 * pair + 1
#endif

#define FOR_EACH(i, count) \
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += gridDim.x * blockDim.x)

template <typename In, typename Out>
__device__ inline void product(const In* a, const Element* b, Out* c, unsigned m, unsigned n,
                               unsigned k) {
  FOR_EACH(i, m * n) {
    float sum = 0.0f;
    for (unsigned j = 0; j < k; ++j) sum += to_float(a[i / n * k + j]) * to_float(b[j * n + i % n]);
    c[i] = sum;
  }
}

__device__ inline void turn(float* head, unsigned first, unsigned second, Rotation by) {
  const float2 result = rotated(head[first], head[second], by);
  head[first] = result.x;
  head[second] = result.y;
}

extern "C" __global__ void layer_project_qkv(const Element* x, const Element* w_qkv, float* qkv,
                                             unsigned seq, unsigned width, unsigned hidden) {
  product(x, w_qkv, qkv, seq, width, hidden);
}

extern "C" __global__ void layer_rope(float* qkv, unsigned turned_heads, unsigned width,
                                      unsigned token_blocks, float step) {
  const unsigned position = block_position(token_blocks), place = place_in_token(token_blocks);
  if (!TURNS || place >= turned_heads * HALF) return;
  const unsigned pair = place % HALF;
  turn(qkv + position * width + place / HALF * DIM, PARTNERS, rotation_at(position, pair, step));
}

extern "C" __global__ void layer_attention(const float* qkv, Element* attended, unsigned seq,
                                           unsigned heads, unsigned kv_heads, float scale) {
  const unsigned width = (heads + 2 * kv_heads) * DIM;
  FOR_EACH(i, seq * heads) {
    const unsigned row = i / heads, head = i % heads;
    const float* query = qkv + row * width + head * DIM;
    const float* keys = qkv + (heads + KV_HEAD) * DIM;
    float sums[DIM] = {};
    MaxSum state = empty_max_sum();
    for (unsigned key = 0; key < seq; ++key) {
      if (!SEES(row, key)) continue;
      float score = 0.0f;
      for (unsigned d = 0; d < DIM; ++d) score += query[d] * keys[key * width + d];
      score *= SCALE;
      const float maximum = fmaxf(state.maximum, score);
      const float rescale = expf(state.maximum - maximum), weight = expf(score - maximum);
      state = {maximum, state.sum * rescale + weight};
      for (unsigned d = 0; d < DIM; ++d)
        sums[d] = sums[d] * rescale + weight * keys[key * width + kv_heads * DIM + d];
    }
    for (unsigned d = 0; d < DIM; ++d)
      attended[(row * heads + head) * DIM + d] = from_float(sums[d] / state.sum);
  }
}

extern "C" __global__ void layer_project_out(const Element* attended, const Element* w_out,
                                             Element* y, unsigned seq, unsigned hidden,
                                             unsigned inner) {
  product(attended, w_out, y, seq, hidden, inner);
}
