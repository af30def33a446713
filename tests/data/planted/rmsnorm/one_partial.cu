// Planted fault: the scale comes from one thread's part of the squares alone.
#include "rows.cuh"

PLANTED {
  __shared__ float part;
  const size_t row = size_t(blockIdx.x) * cols;
  const float own = part_of_squares(x + row, cols);
  if (threadIdx.x == 0) part = own;
  __syncthreads();
  write_scaled(x + row, weight, y + row, cols, rsqrtf(part / cols + epsilon));
}
