// layernorm.warp_reduce: as welford, but parts are merged in registers by warp shuffles, then by
// the first warp across warps. One thread takes the root; mean and 1 / std reach all threads
// through shared memory. Two barriers in place of log2(threads).
#include "../common/layernorm.cuh"
#include "../common/welford.cuh"

constexpr unsigned WARPS = BLOCK_THREADS / WARP_THREADS;

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_warp_reduce(const Element* __restrict__ x, const Element* __restrict__ gamma,
                          const Element* __restrict__ beta, Element* __restrict__ y, unsigned cols,
                          float epsilon) {
  __shared__ Moments parts[WARPS];
  __shared__ float row_mean, row_scale;
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  Moments part = empty_moments();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) part = absorb(part, to_float(in[i]));
  part = warp_reduce(part, MergeMoments());
  if (threadIdx.x % WARP_THREADS == 0) parts[threadIdx.x / WARP_THREADS] = part;
  __syncthreads();

  if (threadIdx.x < WARP_THREADS) {
    part = threadIdx.x < WARPS ? parts[threadIdx.x] : empty_moments();
    part = warp_reduce(part, MergeMoments());
    if (threadIdx.x == 0) {
      row_mean = part.mean;
      row_scale = rsqrtf(part.m2 / float(cols) + epsilon);
    }
  }
  __syncthreads();

  write_normalised(in, gamma, beta, out, cols, row_mean, row_scale);
}
