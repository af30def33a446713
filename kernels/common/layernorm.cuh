// The last pass of the layernorm variants whose threads step through a row by single elements.
#pragma once
#include "element.cuh"
#include "reduce.cuh"

// y = (x - mean) * scale * gamma + beta; scale is 1 / sqrt(variance + epsilon).
__device__ inline void write_normalised(const Element* __restrict__ in,
                                        const Element* __restrict__ gamma,
                                        const Element* __restrict__ beta, Element* __restrict__ out,
                                        unsigned cols, float mean, float scale) {
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) {
    const float normalised = (to_float(in[i]) - mean) * scale;
    out[i] = from_float(normalised * to_float(gamma[i]) + to_float(beta[i]));
  }
}
