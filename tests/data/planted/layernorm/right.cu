// Planted fault: none. The control: this kernel must pass.
#include "rows.cuh"

PLANTED {
  __shared__ Moments scratch[BLOCK_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const Moments all = row_moments(x + row, cols, scratch, MergeMoments());
  const float scale = rsqrtf(all.m2 / cols + epsilon);
  write_normalised(x + row, gamma, beta, y + row, cols, all.mean, scale);
}
