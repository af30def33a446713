// Planted fault: half of each warp waits at a barrier that the other half passes by. The result is
// right all the same, since threads that have left no longer count.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  const float total = row_total(x + row, cols, shift, scratch);
  if (threadIdx.x % WARP_THREADS < WARP_THREADS / 2) __syncthreads();
  write_row(x + row, y + row, cols, shift, total);
}
