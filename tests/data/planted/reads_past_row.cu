// Planted fault: one element of the next row joins the row.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols + 1, scratch);
  write_row(x + row, y + row, cols, shift, row_total(x + row, cols + 1, shift, scratch));
}
