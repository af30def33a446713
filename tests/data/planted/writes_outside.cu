// Planted fault: one element behind the last row is written.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  write_row(x + row, y + row, cols, shift, row_total(x + row, cols, shift, scratch));
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) y[row + cols] = 1.0f;
}
