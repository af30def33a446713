// gemv.vectorized: 16-byte accesses, ROWS x ACCESSES of them asked for together. A block takes ROWS
// neighbouring rows, so that what it reads of x serves them all. Where rows do not start on 16
// bytes the access is as wide as their length allows, down to one element.
#include "../common/group.cuh"
#include "../common/reduce.cuh"

#if !defined(ROWS) || !defined(ACCESSES)
#error "compile with -D ROWS=<rows of a block> -D ACCESSES=<accesses in flight for each row>"
#endif

constexpr unsigned STEP = BLOCK_THREADS * GROUP;

struct RowSums {
  float values[ROWS];
};

__device__ inline RowSums shuffle_xor(const RowSums& sums, unsigned offset) {
  RowSums other;
#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) other.values[r] = shuffle_xor(sums.values[r], offset);
  return other;
}

struct SumRows {
  __device__ RowSums operator()(const RowSums& a, const RowSums& b) const {
    RowSums sums;
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r) sums.values[r] = a.values[r] + b.values[r];
    return sums;
  }
};

// A thread's accesses from element `start` of every row on, up to ACCESSES of them; `whole`: all.
template <bool whole>
__device__ inline void add_round(RowSums& sums, const Element* __restrict__ in,
                                 const Element* __restrict__ x, unsigned start, unsigned k) {
  Group parts[ACCESSES][ROWS];
#pragma unroll
  for (unsigned n = 0; n < ACCESSES; ++n) {
    const unsigned place = start + n * STEP;
    if (whole || place < k) {
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r) parts[n][r] = load_group_once(in + size_t(r) * k + place);
    }
  }
#pragma unroll
  for (unsigned n = 0; n < ACCESSES; ++n) {
    const unsigned place = start + n * STEP;
    if (whole || place < k) {
      const FloatGroup factor = to_floats(load_group(x + place));
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r) {
        const FloatGroup part = to_floats(parts[n][r]);
#pragma unroll
        for (unsigned e = 0; e < GROUP; ++e) sums.values[r] += part.values[e] * factor.values[e];
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    gemv_vectorized(const Element* __restrict__ a, const Element* __restrict__ x,
                    Element* __restrict__ y, unsigned k) {
  __shared__ RowSums scratch[WARP_THREADS];
  const size_t first_row = size_t(blockIdx.x) * ROWS;
  const Element* in = a + first_row * k;

  RowSums sums = {};
  unsigned start = threadIdx.x * GROUP;
  for (; start + (ACCESSES - 1) * STEP < k; start += ACCESSES * STEP)
    add_round<true>(sums, in, x, start, k);
  if (start < k) add_round<false>(sums, in, x, start, k);

  sums = block_warp_reduce(sums, scratch, SumRows());
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r) y[first_row + r] = from_float(sums.values[r]);
  }
}
