// Planted fault: a null pointer is written.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  write_row(x + row, static_cast<float*>(nullptr), cols, shift, 1.0f);
}
