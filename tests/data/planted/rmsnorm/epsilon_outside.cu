// Planted fault: epsilon is added to the root, not inside it.
#include "rows.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float part = part_of_squares(x + row, cols);
  const float sum = block_warp_reduce(part, scratch, Sum());
  write_scaled(x + row, weight, y + row, cols, 1.0f / (sqrtf(sum / cols) + epsilon));
}
