// The signature and the helpers that all planted rmsnorm kernels share. They stand in for the warp
// variant: its entry point, its launch.
#pragma once
#include "element.cuh"
#include "reduce.cuh"

#define PLANTED                                                             \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) rmsnorm_warp( \
      const Element* x, const Element* weight, Element* y, unsigned cols, float epsilon)

__device__ inline float part_of_squares(const Element* in, unsigned cols) {
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    sum += to_float(in[i]) * to_float(in[i]);
  return sum;
}

__device__ inline void write_scaled(const Element* in, const Element* weight, Element* out,
                                    unsigned cols, float scale) {
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    out[i] = from_float(to_float(in[i]) * scale * to_float(weight[i]));
}
