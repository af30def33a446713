// Planted fault: after a shuffle-down reduction every lane but 0 uses its partial sum.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) sum += expf(x[row + i] - shift);
  for (unsigned offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(FULL_WARP, sum, offset);
  if (threadIdx.x % WARP_THREADS == 0) scratch[threadIdx.x / WARP_THREADS] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (unsigned warp = 0; warp < BLOCK_THREADS / WARP_THREADS; ++warp) sum += scratch[warp];
  }
  write_row(x + row, y + row, cols, shift, sum);
}
