// softmax.online: maximum and denominator in one pass. Each thread keeps (running maximum, running
// sum); for each group of elements the sum is rescaled by exp(old - new). Pairs are merged by a
// shared-memory tree; a second pass writes. Reads x twice where naive reads it three times.
#include "../common/element.cuh"
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_online(const Element* __restrict__ x, Element* __restrict__ y, unsigned cols) {
  __shared__ MaxSum scratch[BLOCK_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  const MaxSum local = online_part(in, cols, threadIdx.x, BLOCK_THREADS);
  const MaxSum row = block_tree_reduce(local, scratch, MergeMaxSum());

  const float shift = shift_of(row.maximum);
  const float scale = scale_of(row.sum);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    out[i] = from_float(expf(to_float(in[i]) - shift) * scale);
}
