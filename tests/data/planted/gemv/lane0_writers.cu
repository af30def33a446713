// Planted fault: every warp's lane 0 writes the row, each with the sum of its own warp.
#include "rows.cuh"

PLANTED {
  const float sum = warp_reduce(part_of(a + size_t(blockIdx.x) * k, x, k), Sum());
  if (threadIdx.x % WARP_THREADS == 0) y[blockIdx.x] = from_float(sum);
}
