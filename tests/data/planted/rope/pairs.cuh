// The signature that all planted rope kernels share. They stand in for the naive variant: its entry
// point, its launch, its place in the tensor.
#pragma once
#include "element.cuh"
#include "rope.cuh"

#define PLANTED                                               \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) \
      rope_naive(const Element* x, Element* y, unsigned heads, unsigned token_blocks, float step)

struct Pair {
  unsigned position, head, index;
  bool exists;
  size_t start;  // of its head
};

__device__ inline Pair this_pair(unsigned heads, unsigned token_blocks) {
  const unsigned place = place_in_token(token_blocks);
  Pair pair = {block_position(token_blocks), place / HALF, place % HALF, place < heads * HALF, 0};
  pair.start = (size_t(pair.position) * heads + pair.head) * DIM;
  return pair;
}

__device__ inline void turn(const Element* x, Element* y, size_t first, size_t second,
                            Rotation by) {
  const float2 result = rotated(to_float(x[first]), to_float(x[second]), by);
  y[first] = from_float(result.x);
  y[second] = from_float(result.y);
}
