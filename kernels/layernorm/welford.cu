// layernorm.welford: one pass as in sum_squares, but by Welford's recurrence: each thread keeps
// (mean, sum of squared deviations, count), and Chan's formula merges the threads' parts in a
// shared-memory tree. No large numbers cancel; the price is a division for each element.
#include "../common/layernorm.cuh"
#include "../common/welford.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_welford(const Element* __restrict__ x, const Element* __restrict__ gamma,
                      const Element* __restrict__ beta, Element* __restrict__ y, unsigned cols,
                      float epsilon) {
  __shared__ Moments scratch[BLOCK_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  Moments local = empty_moments();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    local = absorb(local, to_float(in[i]));
  const Moments row = block_tree_reduce(local, scratch, MergeMoments());

  write_normalised(in, gamma, beta, out, cols, row.mean, rsqrtf(row.m2 / float(cols) + epsilon));
}
