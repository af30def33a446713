// What all planted gemm kernels share: the product as the variant shared computes it, with the
// loads given. They stand in for that variant: its entry point, its launch.
#pragma once
#include "element.cuh"

constexpr unsigned TILE = 16;

#define PLANTED                                                                 \
  extern "C" __global__ void __launch_bounds__(TILE* TILE)                      \
      gemm_shared(const Element* __restrict__ a, const Element* __restrict__ b, \
                  Element* __restrict__ c, unsigned m, unsigned n, unsigned k)

struct Place {
  unsigned row;
  unsigned col;
};

__device__ inline Place place_in(unsigned n) {
  const unsigned across = (n + TILE - 1) / TILE;
  return {blockIdx.x / across * TILE + threadIdx.y, blockIdx.x % across * TILE + threadIdx.x};
}

// Element (row, col) of a row-major matrix; zero outside.
__device__ inline float at(const Element* matrix, unsigned rows, unsigned cols, unsigned row,
                           unsigned col) {
  return row < rows && col < cols ? to_float(matrix[size_t(row) * cols + col]) : 0.0f;
}

// The sum over `depth` of a_at(row, i) * b_at(i, col), kept as `Sum` from one product to the next.
template <typename Sum, typename LoadA, typename LoadB>
__device__ inline float tiled_sum(Place place, unsigned depth, LoadA a_at, LoadB b_at) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  Sum sum = Sum(0.0f);
  for (unsigned start = 0; start < depth; start += TILE) {
    a_tile[y][x] = a_at(place.row, start + x);
    b_tile[y][x] = b_at(start + y, place.col);
    __syncthreads();
    for (unsigned i = 0; i < TILE; ++i) sum = Sum(float(sum) + a_tile[y][i] * b_tile[i][x]);
    __syncthreads();
  }
  return float(sum);
}

__device__ inline void write(Element* c, unsigned m, unsigned n, Place place, float sum) {
  if (place.row < m && place.col < n) c[size_t(place.row) * n + place.col] = from_float(sum);
}
