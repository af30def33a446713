// softmax.naive: a block per row, so that neighbouring threads read neighbouring addresses and
// short matrices still fill the card. Three passes over global memory (maximum, sum, write),
// reductions by a shared-memory tree.
#include "../common/element.cuh"
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_naive(const Element* __restrict__ x, Element* __restrict__ y, unsigned cols) {
  __shared__ float scratch[BLOCK_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  float maximum = negative_infinity();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    maximum = fmaxf(maximum, to_float(in[i]));
  const float shift = shift_of(block_tree_reduce(maximum, scratch, Maximum()));

  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) sum += expf(to_float(in[i]) - shift);
  const float scale = scale_of(block_tree_reduce(sum, scratch, Sum()));

  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    out[i] = from_float(expf(to_float(in[i]) - shift) * scale);
}
