// A tile of a matrix product C = A B by one block, 8 x 8 elements of it in each thread's registers,
// accumulated in float32. Tiles of A and B, DEPTH deep, pass through shared memory: the next ones
// are fetched to registers while the present ones are used, and two copies save one of the two
// barriers a step.
#pragma once
#include "quad.cuh"

// Row-major A [m, k], B [k, n] and C [m, n], whose rows start `*_stride` elements apart. In and Out
// are Element or float.
template <typename In, typename Out>
struct Product {
  const In* a;
  const In* b;
  Out* c;
  unsigned m, n, k;
  unsigned a_stride, b_stride, c_stride;
};

// What becomes of four neighbouring elements of C before they are stored: nothing.
struct AsTheyAre {
  __device__ float4 operator()(unsigned, unsigned, float4 quad) const { return quad; }
};

// rows x cols, multiples of 64. `*_by_quad`: as for load_quad, so both extent and stride along a
// row are multiples of four and the matrix starts on four elements.
template <unsigned rows, unsigned cols, bool a_by_quad, bool b_by_quad, bool c_by_quad>
struct GemmTile {
  static_assert(rows % 64 == 0 && cols % 64 == 0, "each thread fetches whole quads");
  static constexpr unsigned DEPTH = 8;
  static constexpr unsigned THREADS = rows * cols / 64;
  static constexpr unsigned A_QUADS = rows * DEPTH / 4 / THREADS;  // that a thread fetches
  static constexpr unsigned B_QUADS = cols * DEPTH / 4 / THREADS;
  static_assert(A_QUADS * THREADS * 4 == rows * DEPTH && B_QUADS * THREADS * 4 == cols * DEPTH,
                "the threads fetch each element once");
  // A thread writes a quad of A down a column of the transposed tile. Of the rows of that tile that
  // a warp writes at once, two that lie four apart, the second is then half the banks further.
  static constexpr unsigned A_STRIDE = rows + 4;

  struct Tiles {
    alignas(16) float a[DEPTH][A_STRIDE];  // transposed: neighbouring rows of A lie side by side
    alignas(16) float b[DEPTH][cols];
  };

  // Writes C's elements from (first_row, first_col) on that exist. For all THREADS threads of a
  // block of one dimension; `tiles` is shared memory, free for other use after a barrier.
  // finish(row, column, quad) gives what is stored for elements column to column + 3 of a row.
  template <typename In, typename Out, typename Finish = AsTheyAre>
  static __device__ inline void compute(const Product<In, Out>& product, unsigned first_row,
                                        unsigned first_col, Tiles (&tiles)[2],
                                        Finish finish = Finish()) {
    const unsigned row = threadIdx.x / (cols / 8) * 4;
    const unsigned col = threadIdx.x % (cols / 8) * 4;
    float sums[8][8] = {};
    Fetched next;
    fetch(next, product, first_row, first_col, 0);
    keep(tiles[0], next);
    __syncthreads();
    unsigned now = 0;
    for (unsigned start = DEPTH; start < product.k; start += DEPTH) {
      fetch(next, product, first_row, first_col, start);
      multiply(sums, tiles[now], row, col);
      now ^= 1;
      // This copy was last read before the barrier of the step before.
      keep(tiles[now], next);
      __syncthreads();
    }
    multiply(sums, tiles[now], row, col);
    write(product, first_row + row, first_col + col, sums, finish);
  }

 private:
  struct Fetched {
    float4 a[A_QUADS];
    float4 b[B_QUADS];
  };

  // Zeros for what lies outside: a row that is not there has no columns.
  template <typename In, typename Out>
  static __device__ inline void fetch(Fetched& next, const Product<In, Out>& product,
                                      unsigned first_row, unsigned first_col, unsigned start) {
#pragma unroll
    for (unsigned i = 0; i < A_QUADS; ++i) {
      const unsigned quad = i * THREADS + threadIdx.x;
      const unsigned row = first_row + quad / (DEPTH / 4);
      next.a[i] =
          load_quad(product.a + size_t(row) * product.a_stride, start + quad % (DEPTH / 4) * 4,
                    row < product.m ? product.k : 0, a_by_quad);
    }
#pragma unroll
    for (unsigned i = 0; i < B_QUADS; ++i) {
      const unsigned quad = i * THREADS + threadIdx.x;
      const unsigned row = start + quad / (cols / 4);
      next.b[i] =
          load_quad(product.b + size_t(row) * product.b_stride, first_col + quad % (cols / 4) * 4,
                    row < product.k ? product.n : 0, b_by_quad);
    }
  }

  static __device__ inline void keep(Tiles& tiles, const Fetched& next) {
#pragma unroll
    for (unsigned i = 0; i < A_QUADS; ++i) {
      const unsigned quad = i * THREADS + threadIdx.x;
      const unsigned row = quad / (DEPTH / 4), place = quad % (DEPTH / 4) * 4;
      tiles.a[place][row] = next.a[i].x;
      tiles.a[place + 1][row] = next.a[i].y;
      tiles.a[place + 2][row] = next.a[i].z;
      tiles.a[place + 3][row] = next.a[i].w;
    }
#pragma unroll
    for (unsigned i = 0; i < B_QUADS; ++i) {
      const unsigned quad = i * THREADS + threadIdx.x;
      *reinterpret_cast<float4*>(&tiles.b[quad / (cols / 4)][quad % (cols / 4) * 4]) = next.b[i];
    }
  }

  // A thread's eight rows, or columns, are two runs of four half a tile apart: neighbouring threads
  // then read neighbouring 16 bytes.
  static __device__ inline void read_eight(float (&eight)[8], const float* low, const float* high) {
    const float4 first = *reinterpret_cast<const float4*>(low);
    const float4 second = *reinterpret_cast<const float4*>(high);
    eight[0] = first.x, eight[1] = first.y, eight[2] = first.z, eight[3] = first.w;
    eight[4] = second.x, eight[5] = second.y, eight[6] = second.z, eight[7] = second.w;
  }

  static __device__ inline void multiply(float (&sums)[8][8], const Tiles& tiles, unsigned row,
                                         unsigned col) {
#pragma unroll 2  // all eight at once take more registers than there are
    for (unsigned i = 0; i < DEPTH; ++i) {
      float a[8], b[8];
      read_eight(a, &tiles.a[i][row], &tiles.a[i][row + rows / 2]);
      read_eight(b, &tiles.b[i][col], &tiles.b[i][col + cols / 2]);
#pragma unroll
      for (unsigned y = 0; y < 8; ++y)
#pragma unroll
        for (unsigned x = 0; x < 8; ++x) sums[y][x] = fmaf(a[y], b[x], sums[y][x]);
    }
  }

  template <typename In, typename Out, typename Finish>
  static __device__ inline void write(const Product<In, Out>& product, unsigned first_row,
                                      unsigned first_col, const float (&sums)[8][8],
                                      Finish finish) {
#pragma unroll
    for (unsigned y = 0; y < 8; ++y) {
      const unsigned row = first_row + y % 4 + y / 4 * (rows / 2);
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        const float* v = &sums[y][4 * half];
        const unsigned col = first_col + half * (cols / 2);
        store_quad(product.c + size_t(row) * product.c_stride, col, row < product.m ? product.n : 0,
                   c_by_quad, finish(row, col, make_float4(v[0], v[1], v[2], v[3])));
      }
    }
  }
};
