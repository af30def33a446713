// Planted fault: zeros are written.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  if (threadIdx.x == 0) scratch[0] = x[row];
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) y[row + i] = 0.0f;
}
