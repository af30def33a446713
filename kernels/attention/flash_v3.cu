// attention.flash_v3: queries and output sums stay in registers. A block has BLOCK_ROWS query rows
// (128, or 64 for wide heads), all of which use each tile of keys and values in shared memory; a
// row belongs to one thread, or to a few neighbouring ones that share its columns. Loads are of
// four elements, loops are unrolled, and the running maximum moves at most once in 8 keys.
#include "../common/attention.cuh"
#include "../common/quad.cuh"
#include "../common/reduce.cuh"

// BLOCK_ROWS and SHARERS, the threads that share a row (1, 2 or 4), are given by the launch.
constexpr unsigned QUADS = (DIM + 3) / 4;
constexpr unsigned OWN_QUADS = (QUADS + SHARERS - 1) / SHARERS;  // of a thread
constexpr unsigned STEP = 8;                                     // keys between changes of maximum
constexpr bool BY_QUAD = DIM % 4 == 0;
static_assert(BLOCK_THREADS == BLOCK_ROWS * SHARERS, "each row has its threads");
static_assert(TILE_KEYS % STEP == 0, "a tile is a whole number of steps");

// Keys or values `first` to `first` + TILE_KEYS of a head; zeros past its end, and in columns past
// DIM. Neighbouring quads belong to neighbouring threads of a row, in different banks.
typedef float4 Tile[TILE_KEYS][OWN_QUADS * SHARERS];

__device__ inline void load_tile(Tile& to, const Element* head, unsigned first, unsigned seq) {
  constexpr unsigned width = OWN_QUADS * SHARERS;
  for (unsigned i = threadIdx.x; i < TILE_KEYS * width; i += BLOCK_THREADS) {
    const unsigned key = i / width, quad = i % width;
    const Element* row = head + size_t(first + key) * DIM;
    to[key][quad] = first + key < seq ? load_quad(row, quad * 4, DIM, BY_QUAD)
                                      : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
}

__device__ inline float sum_of_sharers(float value) {
#pragma unroll
  for (unsigned offset = SHARERS / 2; offset > 0; offset /= 2) value += shuffle_xor(value, offset);
  return value;
}

// What a thread keeps of its row: scaled query, output sums, running maximum and sum (in base 2).
struct Row {
  float4 query[OWN_QUADS];
  float4 sums[OWN_QUADS];
  MaxSum state;
};

// Takes in keys `start` to `start` + STEP of the tile whose first key is `first`.
__device__ inline void take_step(Row& own, const Tile& keys, const Tile& values, unsigned start,
                                 unsigned first, unsigned row, unsigned seq) {
  const unsigned sharer = threadIdx.x % SHARERS;
  float scores[STEP];
#pragma unroll
  for (unsigned i = 0; i < STEP; ++i) scores[i] = 0.0f;
#pragma unroll
  for (unsigned quad = 0; quad < OWN_QUADS; ++quad)
#pragma unroll
    for (unsigned i = 0; i < STEP; ++i)
      scores[i] = dot(own.query[quad], keys[start + i][quad * SHARERS + sharer], scores[i]);
  float maximum = own.state.maximum;
#pragma unroll
  for (unsigned i = 0; i < STEP; ++i) {
    scores[i] = sum_of_sharers(scores[i]);
    if (!sees(row, first + start + i, seq)) scores[i] = negative_infinity();
    maximum = fmaxf(maximum, scores[i]);
  }
  const float shift = shift_of(maximum);
  const float rescale = exp2f(own.state.maximum - shift);
  float sum = own.state.sum * rescale;
#pragma unroll
  for (unsigned i = 0; i < STEP; ++i) {
    scores[i] = exp2f(scores[i] - shift);
    sum += scores[i];
  }
  own.state = {maximum, sum};
#pragma unroll
  for (unsigned quad = 0; quad < OWN_QUADS; ++quad) {
    float4 total = scaled(own.sums[quad], rescale);
#pragma unroll
    for (unsigned i = 0; i < STEP; ++i)
      total = add_scaled(total, scores[i], values[start + i][quad * SHARERS + sharer]);
    own.sums[quad] = total;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    attention_flash_v3(const Element* __restrict__ q, const Element* __restrict__ k,
                       const Element* __restrict__ v, Element* __restrict__ out, unsigned seq,
                       unsigned group, float scale) {
  __shared__ Tile keys, values;
  const Place place = place_of(blockIdx.x, seq, BLOCK_ROWS);
  const unsigned row = place.first_row + threadIdx.x / SHARERS, sharer = threadIdx.x % SHARERS;
  const size_t row_offset = head_offset(place.head, seq) + size_t(row) * DIM;
  const size_t kv_offset = head_offset(place.head / group, seq);

  Row own;
  own.state = empty_max_sum();
#pragma unroll
  for (unsigned quad = 0; quad < OWN_QUADS; ++quad) {
    own.sums[quad] = own.query[quad] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < seq) {
      const unsigned column = (quad * SHARERS + sharer) * 4;
      own.query[quad] = scaled(load_quad(q + row_offset, column, DIM, BY_QUAD), scale * LOG2_E);
    }
  }
  const unsigned seen = keys_before(place.first_row + BLOCK_ROWS, seq);
  for (unsigned first = 0; first < seen; first += TILE_KEYS) {
    load_tile(keys, k + kv_offset, first, seq);
    load_tile(values, v + kv_offset, first, seq);
    __syncthreads();
#pragma unroll 1
    for (unsigned start = 0; start < TILE_KEYS; start += STEP)
      take_step(own, keys, values, start, first, row, seq);
    __syncthreads();  // the tiles are overwritten next
  }
  if (row >= seq) return;
  const float normalise = scale_of(own.state.sum);
#pragma unroll
  for (unsigned quad = 0; quad < OWN_QUADS; ++quad)
    store_quad(out + row_offset, (quad * SHARERS + sharer) * 4, DIM, BY_QUAD,
               scaled(own.sums[quad], normalise));
}
