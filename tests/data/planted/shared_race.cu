// Planted fault: the barrier between writing and reading the partial sums is missing and lanes read
// others'.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) sum += expf(x[row + i] - shift);
  sum = warp_reduce(sum, Sum());
  // The last warp waits before it writes; the others have read by then.
  if (threadIdx.x / WARP_THREADS == BLOCK_THREADS / WARP_THREADS - 1) __nanosleep(20000);
  if (threadIdx.x % WARP_THREADS == 0) scratch[threadIdx.x / WARP_THREADS] = sum;
  float total = 0.0f;
  for (unsigned warp = 0; warp < BLOCK_THREADS / WARP_THREADS; ++warp) total += scratch[warp];
  write_row(x + row, y + row, cols, shift, total);
}
