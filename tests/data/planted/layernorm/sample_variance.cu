// Planted fault: the variance divides by cols - 1.
#include "rows.cuh"

PLANTED {
  __shared__ Moments scratch[BLOCK_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const Moments all = row_moments(x + row, cols, scratch, MergeMoments());
  const float scale = rsqrtf(all.m2 / (cols - 1) + epsilon);
  write_normalised(x + row, gamma, beta, y + row, cols, all.mean, scale);
}
