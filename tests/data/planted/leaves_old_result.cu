// Planted fault: nothing is written: what an earlier run left would stay.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  if (shift == 12345.678f) y[row] = shift;
}
