// Planted fault: none. The control: this kernel must pass.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  write_row(x + row, y + row, cols, shift, row_total(x + row, cols, shift, scratch));
}
