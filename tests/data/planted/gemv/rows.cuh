// The signature and the helper that all planted gemv kernels share. They stand in for the variant
// block_per_row: its entry point, its launch.
#pragma once
#include "element.cuh"
#include "reduce.cuh"

#define PLANTED                                               \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) \
      gemv_block_per_row(const Element* a, const Element* x, Element* y, unsigned k)

// This thread's part of the product of the first `end` elements, `stride` of A apart, with x.
__device__ inline float part_of(const Element* in, const Element* x, unsigned end,
                                size_t stride = 1) {
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < end; i += BLOCK_THREADS)
    sum += to_float(in[i * stride]) * to_float(x[i]);
  return sum;
}

// The row's sum from all threads' parts, written by one of them.
__device__ inline void write_sum(float part, Element* y) {
  __shared__ float scratch[WARP_THREADS];
  part = block_warp_reduce(part, scratch, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = from_float(part);
}
