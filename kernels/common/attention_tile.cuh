// Flash attention of one tile of query rows by a whole block, FlashAttention-2 style: rows are
// dealt to warps, a thread holds THREAD_ROWS rows x (TILE_KEYS / 16) scores and the output sums of
// its rows in registers, and the 16 threads of a row agree on its maximum by shuffles.
#pragma once
#include "attention.cuh"
#include "quad.cuh"
#include "reduce.cuh"

#if !defined(TILE_ROWS) || !defined(TILE_KEYS) || !defined(THREAD_ROWS)
#error "compile with -D TILE_ROWS, TILE_KEYS and THREAD_ROWS"
#endif

constexpr unsigned ROW_THREADS = 16;
constexpr unsigned THREAD_KEYS = TILE_KEYS / ROW_THREADS;
constexpr unsigned PADDED_DIM = (DIM + ROW_THREADS - 1) / ROW_THREADS * ROW_THREADS;
// Rows lie four floats further apart than they are long: quads at one column of 8 neighbouring rows
// are then in different banks.
constexpr unsigned DIM_STRIDE = PADDED_DIM + 4;
constexpr unsigned WEIGHT_STRIDE = TILE_KEYS + 4;
// Columns of the output that a thread takes in one access of shared memory, and how often.
constexpr unsigned WIDTH = PADDED_DIM % 64 == 0 ? 4 : PADDED_DIM % 32 == 0 ? 2 : 1;
constexpr unsigned ACCESSES = PADDED_DIM / (ROW_THREADS * WIDTH);
static_assert(BLOCK_THREADS == TILE_ROWS / THREAD_ROWS * ROW_THREADS, "each row has 16 threads");
static_assert(TILE_KEYS % ROW_THREADS == 0 && TILE_ROWS % THREAD_ROWS == 0, "whole tiles");

// Of a head: `stride` elements from one row to the next; the first lies on `base`.
template <typename T>
struct HeadRows {
  T* base;
  size_t stride;
  __device__ T* row(unsigned index) const { return base + index * stride; }
};

struct SharedTiles {
  float queries[TILE_ROWS][DIM_STRIDE];
  float keys[TILE_KEYS][DIM_STRIDE];
  float values[TILE_KEYS][DIM_STRIDE];
  float weights[TILE_ROWS][WEIGHT_STRIDE];
};

struct alignas(4 * WIDTH) Columns {
  float values[WIDTH];
};

// The rows of one thread.
struct ThreadRows {
  Columns sums[THREAD_ROWS][ACCESSES];
  MaxSum states[THREAD_ROWS];
};

__device__ inline float4 quad_at(const float* address) {
  return *reinterpret_cast<const float4*>(address);
}

// `rows` rows from `first` on, times `factor`; zeros past the end of the sequence and past DIM.
template <unsigned rows, typename T>
__device__ inline void load_rows(float (*to)[DIM_STRIDE], HeadRows<T> from, unsigned first,
                                 unsigned seq, float factor, bool by_quad) {
  constexpr unsigned quads = PADDED_DIM / 4;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < rows * quads; i += BLOCK_THREADS) {
    const unsigned row = i / quads, column = i % quads * 4;
    float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first + row < seq) quad = load_quad(from.row(first + row), column, DIM, by_quad);
    *reinterpret_cast<float4*>(&to[row][column]) = scaled(quad, factor);
  }
}

// scores[r][j] of query row first_row + r and key 16 j + (thread of the row), all within the tile.
__device__ inline void tile_scores(const SharedTiles& tiles, unsigned first_row,
                                   float (&scores)[THREAD_ROWS][THREAD_KEYS]) {
  const unsigned lane = threadIdx.x % ROW_THREADS;
#pragma unroll
  for (unsigned r = 0; r < THREAD_ROWS; ++r)
#pragma unroll
    for (unsigned j = 0; j < THREAD_KEYS; ++j) scores[r][j] = 0.0f;
#pragma unroll 4
  for (unsigned d = 0; d < PADDED_DIM; d += 4) {
    float4 query[THREAD_ROWS];
#pragma unroll
    for (unsigned r = 0; r < THREAD_ROWS; ++r) query[r] = quad_at(&tiles.queries[first_row + r][d]);
#pragma unroll
    for (unsigned j = 0; j < THREAD_KEYS; ++j) {
      const float4 key = quad_at(&tiles.keys[j * ROW_THREADS + lane][d]);
#pragma unroll
      for (unsigned r = 0; r < THREAD_ROWS; ++r) scores[r][j] = dot(query[r], key, scores[r][j]);
    }
  }
}

// Merge over the 16 threads that share a row.
template <typename Merge>
__device__ inline float row_reduce(float value, Merge merge) {
#pragma unroll
  for (unsigned offset = ROW_THREADS / 2; offset > 0; offset /= 2)
    value = merge(value, shuffle_xor(value, offset));
  return value;
}

// Scores become weights in shared memory; running maxima, sums and output sums move to the new
// maximum. A thread's running sum is of its own keys; they are added up at the very end.
__device__ inline void tile_weights(SharedTiles& tiles, ThreadRows& own, unsigned first_row,
                                    float (&scores)[THREAD_ROWS][THREAD_KEYS]) {
  const unsigned lane = threadIdx.x % ROW_THREADS;
#pragma unroll
  for (unsigned r = 0; r < THREAD_ROWS; ++r) {
    float maximum = own.states[r].maximum;
#pragma unroll
    for (unsigned j = 0; j < THREAD_KEYS; ++j) maximum = fmaxf(maximum, scores[r][j]);
    maximum = row_reduce(maximum, Maximum());
    const float shift = shift_of(maximum);
    const float rescale = exp2f(own.states[r].maximum - shift);
    float sum = own.states[r].sum * rescale;
#pragma unroll
    for (unsigned j = 0; j < THREAD_KEYS; ++j) {
      const float weight = exp2f(scores[r][j] - shift);
      sum += weight;
      tiles.weights[first_row + r][j * ROW_THREADS + lane] = weight;
    }
    own.states[r] = {maximum, sum};
#pragma unroll
    for (unsigned a = 0; a < ACCESSES; ++a)
#pragma unroll
      for (unsigned w = 0; w < WIDTH; ++w) own.sums[r][a].values[w] *= rescale;
  }
}

// sums += weights x values, four keys at a time.
__device__ inline void add_values(const SharedTiles& tiles, ThreadRows& own, unsigned first_row) {
  const unsigned lane = threadIdx.x % ROW_THREADS;
#pragma unroll 2
  for (unsigned key = 0; key < TILE_KEYS; key += 4) {
    float4 weights[THREAD_ROWS];
#pragma unroll
    for (unsigned r = 0; r < THREAD_ROWS; ++r)
      weights[r] = quad_at(&tiles.weights[first_row + r][key]);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
#pragma unroll
      for (unsigned a = 0; a < ACCESSES; ++a) {
        const unsigned column = (a * ROW_THREADS + lane) * WIDTH;
        const Columns value = *reinterpret_cast<const Columns*>(&tiles.values[key + i][column]);
#pragma unroll
        for (unsigned r = 0; r < THREAD_ROWS; ++r) {
          const float weight = i == 0   ? weights[r].x
                               : i == 1 ? weights[r].y
                               : i == 2 ? weights[r].z
                                        : weights[r].w;
#pragma unroll
          for (unsigned w = 0; w < WIDTH; ++w)
            own.sums[r][a].values[w] = fmaf(weight, value.values[w], own.sums[r][a].values[w]);
        }
      }
  }
}

__device__ inline void clear(ThreadRows& own) {
#pragma unroll
  for (unsigned r = 0; r < THREAD_ROWS; ++r) {
    own.states[r] = empty_max_sum();
#pragma unroll
    for (unsigned a = 0; a < ACCESSES; ++a)
#pragma unroll
      for (unsigned w = 0; w < WIDTH; ++w) own.sums[r][a].values[w] = 0.0f;
  }
}

template <typename T>
__device__ inline void write_rows(const ThreadRows& own, HeadRows<T> out, unsigned first,
                                  unsigned seq) {
  const unsigned lane = threadIdx.x % ROW_THREADS;
#pragma unroll
  for (unsigned r = 0; r < THREAD_ROWS; ++r) {
    const float normalise = scale_of(row_reduce(own.states[r].sum, Sum()));
    if (first + r >= seq) continue;
    T* row = out.row(first + r);
#pragma unroll
    for (unsigned a = 0; a < ACCESSES; ++a)
#pragma unroll
      for (unsigned w = 0; w < WIDTH; ++w) {
        const unsigned column = (a * ROW_THREADS + lane) * WIDTH + w;
        if (column < DIM) row[column] = narrowed<T>(own.sums[r][a].values[w] * normalise);
      }
  }
}

// Output rows first to first + TILE_ROWS of one head. `by_quad`: rows of q, k and v start on four
// elements and DIM is a multiple of four.
template <typename In, typename Out>
__device__ inline void attend(SharedTiles& tiles, HeadRows<const In> q, HeadRows<const In> k,
                              HeadRows<const In> v, HeadRows<Out> out, unsigned first, unsigned seq,
                              float scale, bool by_quad) {
  const unsigned first_row = threadIdx.x / ROW_THREADS * THREAD_ROWS;
  const unsigned lane = threadIdx.x % ROW_THREADS;
  // Exponentials are powers of two: log2(e) goes into the queries beside the scale.
  load_rows<TILE_ROWS>(tiles.queries, q, first, seq, scale * LOG2_E, by_quad);
  ThreadRows own;
  clear(own);
  const unsigned seen = keys_before(first + TILE_ROWS, seq);
  for (unsigned key = 0; key < seen; key += TILE_KEYS) {
    load_rows<TILE_KEYS>(tiles.keys, k, key, seq, 1.0f, by_quad);
    load_rows<TILE_KEYS>(tiles.values, v, key, seq, 1.0f, by_quad);
    __syncthreads();
    float scores[THREAD_ROWS][THREAD_KEYS];
    tile_scores(tiles, first_row, scores);
#pragma unroll
    for (unsigned r = 0; r < THREAD_ROWS; ++r)
#pragma unroll
      for (unsigned j = 0; j < THREAD_KEYS; ++j)
        if (!sees(first + first_row + r, key + j * ROW_THREADS + lane, seq))
          scores[r][j] = negative_infinity();
    tile_weights(tiles, own, first_row, scores);
    __syncwarp();  // a row's weights are written and read by one warp
    add_values(tiles, own, first_row);
    __syncthreads();  // the tiles are overwritten next
  }
  write_rows(own, out, first + first_row, seq);
}
