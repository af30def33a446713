// gemm.tensor_core: the multiply-adds move to the tensor units, 16 x 16 x 16 at a time (WMMA), with
// float32 accumulators that stay in registers; the result is rounded once, when it is stored. A
// block's tile of C is TILE_M x TILE_N, shared out among its warps. Tiles of A and B, DEPTH deep,
// come by asynchronous copies STAGES - 1 steps ahead. Their rows are 16 bytes longer than they need
// be, so that a warp's reads of several rows meet different banks. Edges are filled with zeros.
#include <mma.h>

#include "../common/element.cuh"
#include "../common/matrix_tiles.cuh"
#include "../common/mma.cuh"
#include "../common/quad.cuh"

#if !defined(TILE_M) || !defined(TILE_N) || !defined(WARP_M) || !defined(WARP_N)
#error "compile with -D TILE_M, TILE_N and -D WARP_M, WARP_N, multiples of 16 that divide them"
#endif
#if !defined(A_ALIGNED) || !defined(B_ALIGNED)
#error "compile with -D A_ALIGNED, B_ALIGNED (1 where every row starts on 16 bytes, else 0)"
#endif

namespace wmma = nvcuda::wmma;

constexpr unsigned UNIT = 16;  // of the tensor units' matrices
constexpr unsigned DEPTH = 32;
constexpr unsigned STAGES = 3;
constexpr unsigned WARP_THREADS = 32;
constexpr unsigned WARPS_ACROSS = TILE_N / WARP_N;
constexpr unsigned THREADS = TILE_M / WARP_M * WARPS_ACROSS * WARP_THREADS;
// Registers for two blocks, so that one computes while the other waits. Where a multiprocessor has
// too little shared memory for two, the warps of one take turns.
constexpr unsigned BLOCKS_PER_SM = 2;
constexpr unsigned DOWN = WARP_M / UNIT;  // accumulators of a warp
constexpr unsigned ACROSS = WARP_N / UNIT;
constexpr unsigned A_STRIDE = DEPTH + PACK;
constexpr unsigned B_STRIDE = TILE_N + PACK;
constexpr unsigned OUT_STRIDE = UNIT + 4;

struct Stage {
  alignas(32) Element a[TILE_M * A_STRIDE];
  alignas(32) Element b[DEPTH * B_STRIDE];
};

extern __shared__ Stage stages[];

typedef wmma::fragment<wmma::matrix_a, UNIT, UNIT, UNIT, Element, wmma::row_major> FragmentA;
typedef wmma::fragment<wmma::matrix_b, UNIT, UNIT, UNIT, Element, wmma::row_major> FragmentB;
typedef wmma::fragment<wmma::accumulator, UNIT, UNIT, UNIT, float> Accumulator;

// Brings tile_rows x tile_cols elements of a row-major matrix, from (row, col) on, to shared memory
// with zeros for what lies outside. Whoever waits for this thread's copies has its part.
template <bool aligned, unsigned tile_rows, unsigned tile_cols, unsigned stride>
__device__ inline void bring(Element* tile, const Element* matrix, unsigned rows, unsigned cols,
                             unsigned row, unsigned col) {
  constexpr unsigned packs = tile_cols / PACK;
  static_assert(tile_rows * packs % THREADS == 0, "every thread brings as many packs");
#pragma unroll
  for (unsigned i = 0; i < tile_rows * packs / THREADS; ++i) {
    const unsigned place = i * THREADS + threadIdx.x;
    const unsigned y = place / packs, x = place % packs * PACK;
    Element* to = tile + y * stride + x;
    const bool in_row = row + y < rows;
    const Element* from = matrix + size_t(row + y) * cols + col + x;
    if (aligned) {  // then a pack lies inside or outside as a whole
      const bool inside = in_row && col + x < cols;
      copy_async(to, inside ? from : matrix, inside);
    } else {
      Pack pack;
#pragma unroll
      for (unsigned e = 0; e < PACK; ++e)
        pack.values[e] = in_row && col + x + e < cols ? from[e] : from_float(0.0f);
      store_pack(to, pack);
    }
  }
}

struct Problem {
  const Element* a;
  const Element* b;
  unsigned m, n, k, first_row, first_col;
};

// The copies of one step along k; past the end of k there are none, which keeps their count.
__device__ inline void bring_step(const Problem& problem, unsigned step) {
  const unsigned start = step * DEPTH;
  if (start < problem.k) {
    Stage& stage = stages[step % STAGES];
    bring<A_ALIGNED, TILE_M, DEPTH, A_STRIDE>(stage.a, problem.a, problem.m, problem.k,
                                              problem.first_row, start);
    bring<B_ALIGNED, DEPTH, TILE_N, B_STRIDE>(stage.b, problem.b, problem.k, problem.n, start,
                                              problem.first_col);
  }
  commit_copies();
}

__device__ inline void multiply(Accumulator (&sums)[DOWN][ACROSS], const Stage& stage,
                                unsigned warp_row, unsigned warp_col) {
#pragma unroll
  for (unsigned i = 0; i < DEPTH; i += UNIT) {
    FragmentB b[ACROSS];
#pragma unroll
    for (unsigned x = 0; x < ACROSS; ++x)
      wmma::load_matrix_sync(b[x], stage.b + i * B_STRIDE + warp_col + x * UNIT, B_STRIDE);
#pragma unroll
    for (unsigned y = 0; y < DOWN; ++y) {
      FragmentA a;
      wmma::load_matrix_sync(a, stage.a + (warp_row + y * UNIT) * A_STRIDE + i, A_STRIDE);
#pragma unroll
      for (unsigned x = 0; x < ACROSS; ++x) wmma::mma_sync(sums[y][x], a, b[x], sums[y][x]);
    }
  }
}

// A warp's 16 x 16 sums by way of shared memory: which lane holds what in a fragment is not said.
__device__ inline void write_unit(Element* c, unsigned m, unsigned n, unsigned row, unsigned col,
                                  const Accumulator& sums, float* scratch) {
  wmma::store_matrix_sync(scratch, sums, OUT_STRIDE, wmma::mem_row_major);
  __syncwarp();
  const unsigned lane = threadIdx.x % WARP_THREADS;
#pragma unroll
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned y = i * 8 + lane / 4, x = lane % 4 * 4;
    const float4 quad = *reinterpret_cast<const float4*>(scratch + y * OUT_STRIDE + x);
    store_quad(c + size_t(row + y) * n, col + x, row + y < m ? n : 0, B_ALIGNED, quad);
  }
  __syncwarp();
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    gemm_tensor_core(const Element* __restrict__ a, const Element* __restrict__ b,
                     Element* __restrict__ c, unsigned m, unsigned n, unsigned k) {
  const unsigned tiles_down = (m + TILE_M - 1) / TILE_M;
  const TilePlace place = tile_of_block(blockIdx.x, tiles_down, (n + TILE_N - 1) / TILE_N);
  const Problem problem = {a, b, m, n, k, place.row * TILE_M, place.col * TILE_N};
  const unsigned warp = threadIdx.x / WARP_THREADS;
  const unsigned warp_row = warp / WARPS_ACROSS * WARP_M;
  const unsigned warp_col = warp % WARPS_ACROSS * WARP_N;

  Accumulator sums[DOWN][ACROSS];
#pragma unroll
  for (unsigned y = 0; y < DOWN; ++y)
#pragma unroll
    for (unsigned x = 0; x < ACROSS; ++x) wmma::fill_fragment(sums[y][x], 0.0f);

#pragma unroll
  for (unsigned step = 0; step < STAGES - 1; ++step) bring_step(problem, step);
  const unsigned steps = (k + DEPTH - 1) / DEPTH;
  for (unsigned step = 0; step < steps; ++step) {
    wait_for_copies<STAGES - 2>();
    // Everybody's part of this step is there, and nobody reads the stage that is filled next.
    __syncthreads();
    bring_step(problem, step + STAGES - 1);
    multiply(sums, stages[step % STAGES], warp_row, warp_col);
  }
  wait_for_copies<0>();
  __syncthreads();

  float* scratch = reinterpret_cast<float*>(stages) + warp * UNIT * OUT_STRIDE;
#pragma unroll
  for (unsigned y = 0; y < DOWN; ++y)
#pragma unroll
    for (unsigned x = 0; x < ACROSS; ++x)
      write_unit(c, m, n, problem.first_row + warp_row + y * UNIT,
                 problem.first_col + warp_col + x * UNIT, sums[y][x], scratch);
}
