// gemv.warp_per_row: 32 lanes share a row, so that a warp reads neighbouring elements, whole lines
// of A; their sums are merged by shuffles, with no shared memory and no barrier.
#include "../common/element.cuh"
#include "../common/reduce.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    gemv_warp_per_row(const Element* __restrict__ a, const Element* __restrict__ x,
                      Element* __restrict__ y, unsigned m, unsigned k) {
  const unsigned lane = threadIdx.x % WARP_THREADS;
  const unsigned row = blockIdx.x * (BLOCK_THREADS / WARP_THREADS) + threadIdx.x / WARP_THREADS;
  if (row >= m) return;  // a whole warp at once
  const Element* in = a + size_t(row) * k;
  float sum = 0.0f;
  for (unsigned i = lane; i < k; i += WARP_THREADS) sum += to_float(in[i]) * to_float(x[i]);
  sum = warp_reduce(sum, Sum());
  if (lane == 0) y[row] = from_float(sum);
}
