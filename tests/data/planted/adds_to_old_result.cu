// Planted fault: the output is added to, so that it holds whatever was there before.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  const float total = row_total(x + row, cols, shift, scratch);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    y[row + i] += expf(x[row + i] - shift) / total;
}
