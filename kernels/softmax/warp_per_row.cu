// softmax.warp_per_row: one warp per row and no barrier at all: rows no longer wait for each other
// inside a block. After the shuffle-down reduction only lane 0 holds the result, so it is
// broadcast before use.
#include "../common/element.cuh"
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_warp_per_row(const Element* __restrict__ x, Element* __restrict__ y, unsigned rows,
                         unsigned cols) {
  const unsigned lane = threadIdx.x % WARP_THREADS;
  const size_t row =
      size_t(blockIdx.x) * (BLOCK_THREADS / WARP_THREADS) + threadIdx.x / WARP_THREADS;
  if (row >= rows) return;  // whole warps leave together: no shuffle waits for them
  const Element* in = x + row * cols;
  Element* out = y + row * cols;

  MaxSum part = online_part(in, cols, lane, WARP_THREADS);
#pragma unroll
  for (unsigned offset = WARP_THREADS / 2; offset > 0; offset /= 2) {
    const MaxSum other = {__shfl_down_sync(FULL_WARP, part.maximum, offset),
                          __shfl_down_sync(FULL_WARP, part.sum, offset)};
    part = MergeMaxSum()(part, other);
  }
  const float shift = shift_of(__shfl_sync(FULL_WARP, part.maximum, 0));
  const float scale = scale_of(__shfl_sync(FULL_WARP, part.sum, 0));
  for (unsigned i = lane; i < cols; i += WARP_THREADS)
    out[i] = from_float(expf(to_float(in[i]) - shift) * scale);
}
