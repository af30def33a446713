// layernorm.naive: a block per row, the definition line by line: a pass for the mean, a pass for
// the variance about it, a pass that writes. Shared-memory tree reductions.
#include "../common/layernorm.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_naive(const Element* __restrict__ x, const Element* __restrict__ gamma,
                    const Element* __restrict__ beta, Element* __restrict__ y, unsigned cols,
                    float epsilon) {
  __shared__ float scratch[BLOCK_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) sum += to_float(in[i]);
  const float mean = block_tree_reduce(sum, scratch, Sum()) / float(cols);

  float squares = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) {
    const float deviation = to_float(in[i]) - mean;
    squares += deviation * deviation;
  }
  const float variance = block_tree_reduce(squares, scratch, Sum()) / float(cols);

  write_normalised(in, gamma, beta, out, cols, mean, rsqrtf(variance + epsilon));
}
