// softmax.warp_reduce: as online, but pairs are merged in registers by warp shuffles, with one
// cross-warp step in shared memory: two barriers a reduction in place of log2(threads).
#include "../common/element.cuh"
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

__device__ MaxSum block_merge(MaxSum part, float* scratch) {
  const float maximum = block_warp_reduce(part.maximum, scratch, Maximum());
  // One exponential per thread brings every sum to the common maximum; then sums just add.
  const float sum = part.sum * expf(part.maximum - shift_of(maximum));
  return {maximum, block_warp_reduce(sum, scratch, Sum())};
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_warp_reduce(const Element* __restrict__ x, Element* __restrict__ y, unsigned cols) {
  __shared__ float scratch[WARP_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  const MaxSum local = online_part(in, cols, threadIdx.x, BLOCK_THREADS);
  const MaxSum row = block_merge(local, scratch);

  const float shift = shift_of(row.maximum);
  const float scale = scale_of(row.sum);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    out[i] = from_float(expf(to_float(in[i]) - shift) * scale);
}
