// Planted fault: an address that nobody allocated is written. It comes from an argument, since the
// compiler drops writes that it sees to be undefined.
#include "common.cuh"

PLANTED {
  __shared__ float scratch[WARP_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const float shift = row_maximum(x + row, cols, scratch);
  write_row(x + row, reinterpret_cast<float*>(size_t(cols) * 4), cols, shift, 1.0f);
}
