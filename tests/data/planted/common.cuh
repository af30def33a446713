// The signature and the row helpers that all planted kernels share.
#pragma once
#include "reduce.cuh"
#include "softmax.cuh"

#define PLANTED                                               \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) \
      planted(float* x, float* y, unsigned cols)

__device__ inline float row_maximum(const float* in, unsigned cols, float* scratch) {
  float maximum = negative_infinity();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) maximum = fmaxf(maximum, in[i]);
  return shift_of(block_warp_reduce(maximum, scratch, Maximum()));
}

__device__ inline float row_total(const float* in, unsigned cols, float shift, float* scratch) {
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) sum += expf(in[i] - shift);
  return block_warp_reduce(sum, scratch, Sum());
}

__device__ inline void write_row(const float* in, float* out, unsigned cols, float shift,
                                 float sum) {
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    out[i] = expf(in[i] - shift) * scale_of(sum);
}
