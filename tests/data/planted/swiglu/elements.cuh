// The signature that all planted swiglu kernels share. They stand in for the vectorized variant:
// its entry point, its launch.
#pragma once
#include "element.cuh"
#include "swiglu.cuh"

#define PLANTED                                                                  \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) swiglu_vectorized( \
      const Element* gate, const Element* up, Element* y, unsigned long long count)

#define FOR_EACH(i, count)                                                       \
  for (size_t i = size_t(blockIdx.x) * BLOCK_THREADS + threadIdx.x; i < (count); \
       i += size_t(gridDim.x) * BLOCK_THREADS)
