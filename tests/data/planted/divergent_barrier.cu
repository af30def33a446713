// Planted fault: half of a warp waits at a barrier that the other half passes by. The result is
// right all the same.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  write_row(x + row, y + row, cols, shift, row_total(x + row, cols, shift, scratch));
  if (threadIdx.x % WARP_THREADS >= WARP_THREADS / 2) return;
  __syncthreads();
}
