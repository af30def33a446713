// gemv.block_per_row: a whole block shares a row, so that matrices of few long rows fill the card.
// Each warp's lane 0 has a part of the row's sum only: the warps' parts are merged in shared memory
// before one thread writes. Were every lane 0 to write y[row] after its own shuffles, the last of
// them would win, with its part for a result.
#include "../common/element.cuh"
#include "../common/reduce.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    gemv_block_per_row(const Element* __restrict__ a, const Element* __restrict__ x,
                       Element* __restrict__ y, unsigned k) {
  __shared__ float scratch[WARP_THREADS];
  const Element* in = a + size_t(blockIdx.x) * k;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < k; i += BLOCK_THREADS) sum += to_float(in[i]) * to_float(x[i]);
  sum = block_warp_reduce(sum, scratch, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = from_float(sum);
}
