// gemm.shared: a block computes 16 x 16 elements of C from 16 x 16 tiles of A and B that it brings
// to shared memory together, so that each element that is loaded serves 16 threads. Tiles that
// reach over an edge are filled with zeros.
#include "../common/element.cuh"

constexpr unsigned TILE = 16;

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    gemm_shared(const Element* __restrict__ a, const Element* __restrict__ b,
                Element* __restrict__ c, unsigned m, unsigned n, unsigned k) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const unsigned across = (n + TILE - 1) / TILE;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.x / across * TILE + y;
  const unsigned col = blockIdx.x % across * TILE + x;
  const Element* in_row = a + size_t(row) * k;
  const Element* in_col = b + col;
  float sum = 0.0f;
  for (unsigned start = 0; start < k; start += TILE) {
    a_tile[y][x] = row < m && start + x < k ? to_float(in_row[start + x]) : 0.0f;
    b_tile[y][x] = col < n && start + y < k ? to_float(in_col[size_t(start + y) * n]) : 0.0f;
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < TILE; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[size_t(row) * n + col] = from_float(sum);
}
