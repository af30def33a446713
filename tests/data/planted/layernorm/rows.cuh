// The signature and the helpers that all planted layernorm kernels share. They stand in for the
// naive variant: its entry point, its launch.
#pragma once
#include "layernorm.cuh"
#include "welford.cuh"

#define PLANTED                                                                                \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)                                  \
      layernorm_naive(const Element* x, const Element* gamma, const Element* beta, Element* y, \
                      unsigned cols, float epsilon)

template <typename Merge>
__device__ inline Moments row_moments(const Element* in, unsigned cols, Moments* scratch,
                                      Merge merge) {
  Moments part = empty_moments();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) part = absorb(part, to_float(in[i]));
  return block_tree_reduce(part, scratch, merge);
}
