// gemm.naive: a thread per element of C, walking a row of A and a column of B in global memory.
// Neighbouring threads take neighbouring columns, so that B and C are read and written in whole
// lines and a warp asks for one element of A.
#include "../common/element.cuh"

constexpr unsigned BLOCK_COLS = 32;
constexpr unsigned BLOCK_ROWS = 8;

extern "C" __global__ void __launch_bounds__(BLOCK_COLS* BLOCK_ROWS)
    gemm_naive(const Element* __restrict__ a, const Element* __restrict__ b,
               Element* __restrict__ c, unsigned m, unsigned n, unsigned k) {
  const unsigned across = (n + BLOCK_COLS - 1) / BLOCK_COLS;
  const unsigned row = blockIdx.x / across * BLOCK_ROWS + threadIdx.y;
  const unsigned col = blockIdx.x % across * BLOCK_COLS + threadIdx.x;
  if (row >= m || col >= n) return;
  const Element* in_row = a + size_t(row) * k;
  const Element* in_col = b + col;
  float sum = 0.0f;
  for (unsigned i = 0; i < k; ++i) sum += to_float(in_row[i]) * to_float(in_col[size_t(i) * n]);
  c[size_t(row) * n + col] = from_float(sum);
}
