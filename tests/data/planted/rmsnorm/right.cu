// Planted fault: none. The control: this kernel must pass.
#include "rows.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float part = part_of_squares(x + row, cols);
  const float sum = block_warp_reduce(part, scratch, Sum());
  write_scaled(x + row, weight, y + row, cols, rsqrtf(sum / cols + epsilon));
}
