// Planted fault: the mean divides by cols - 1.
#include "rows.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float part = part_of_squares(x + row, cols);
  const float sum = block_warp_reduce(part, scratch, Sum());
  write_scaled(x + row, weight, y + row, cols, rsqrtf(sum / (cols - 1) + epsilon));
}
