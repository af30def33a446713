// Planted fault: epsilon is added to the deviation, outside the root.
#include "rows.cuh"

PLANTED {
  __shared__ Moments scratch[BLOCK_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const Moments all = row_moments(x + row, cols, scratch, MergeMoments());
  const float scale = 1.0f / (sqrtf(all.m2 / cols) + epsilon);
  write_normalised(x + row, gamma, beta, y + row, cols, all.mean, scale);
}
