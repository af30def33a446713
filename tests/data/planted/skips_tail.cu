// Planted fault: elements past the last whole block are not written.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  const float sum = row_total(x + row, cols, shift, scratch);
  write_row(x + row, y + row, cols / BLOCK_THREADS * BLOCK_THREADS, shift, sum);
}
