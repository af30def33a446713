// Planted fault: mean and 1 / std stay with the first warp; the others use their own parts.
#include "rows.cuh"

PLANTED {
  __shared__ Moments parts[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  Moments part = empty_moments();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    part = absorb(part, to_float(x[row + i]));
  part = warp_reduce(part, MergeMoments());
  if (threadIdx.x % WARP_THREADS == 0) parts[threadIdx.x / WARP_THREADS] = part;
  __syncthreads();
  if (threadIdx.x < WARP_THREADS) {
    const bool mine = threadIdx.x < BLOCK_THREADS / WARP_THREADS;
    part = warp_reduce(mine ? parts[threadIdx.x] : empty_moments(), MergeMoments());
  }
  const float scale = rsqrtf(part.m2 / fmaxf(part.count, 1.0f) + epsilon);
  write_normalised(x + row, gamma, beta, y + row, cols, part.mean, scale);
}
