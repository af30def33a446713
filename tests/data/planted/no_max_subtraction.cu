// Planted fault: exp overflows, since the maximum is not subtracted.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  write_row(x + row, y + row, cols, 0.0f, row_total(x + row, cols, 0.0f, scratch));
}
