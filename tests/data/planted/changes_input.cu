// Planted fault: the input is overwritten with the exponentials.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  const float sum = row_total(x + row, cols, shift, scratch);
  write_row(x + row, y + row, cols, shift, sum);
  if (threadIdx.x == 0) x[row] = 3.0f;
}
