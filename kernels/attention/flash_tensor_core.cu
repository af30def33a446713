// attention.flash_tensor_core: both products on the tensor cores (mma.sync 16 x 8 x 16, 2-byte
// factors, float32 sums). A warp has 16 query rows, whose queries and output sums stay in registers
// as fragments; scores become the left factor of the second product without leaving them. The next
// tile of keys and values is copied while this one is used. Weights are rounded to the element type
// before they meet the values; their sum is of the unrounded ones.
#include "../common/attention.cuh"
#include "../common/mma.cuh"
#include "../common/reduce.cuh"

constexpr unsigned WARPS = BLOCK_THREADS / WARP_THREADS;
constexpr unsigned WARP_ROWS = 16;
constexpr unsigned TILE_ROWS = WARPS * WARP_ROWS;
constexpr unsigned DEPTH = DIM / 16;           // steps of the product over columns
constexpr unsigned OUT_PARTS = DIM / 8;        // fragments across the output
constexpr unsigned KEY_PARTS = TILE_KEYS / 8;  // fragments across the scores of a tile
constexpr unsigned CHUNKS = DIM * 2 / 16;      // 16-byte copies in a row
// Rows lie 16 bytes further apart than they are long: with an even number of chunks in a row, eight
// rows at one column are then in different banks.
constexpr unsigned STRIDE = DIM + 8;
static_assert(DIM % 16 == 0 && TILE_KEYS % 16 == 0, "fragments are 16 deep");

struct Stage {
  Element keys[TILE_KEYS][STRIDE];
  Element values[TILE_KEYS][STRIDE];
};

extern __shared__ uint4 arena[];

// What a lane has of its warp's 16 rows: of rows L / 4 and L / 4 + 8.
struct WarpRows {
  LeftFragment queries[DEPTH];
  SumFragment sums[OUT_PARTS];
  MaxSum states[2];  // maxima of scores that are not scaled yet; sums of this lane's columns
};

__device__ inline void copy_tile(Stage& stage, const Element* keys, const Element* values,
                                 unsigned first, unsigned seq) {
  for (unsigned i = threadIdx.x; i < TILE_KEYS * CHUNKS; i += BLOCK_THREADS) {
    const unsigned row = i / CHUNKS, column = i % CHUNKS * 8;
    const bool present = first + row < seq;
    const size_t offset = present ? size_t(first + row) * DIM + column : 0;
    copy_async(&stage.keys[row][column], keys + offset, present);
    copy_async(&stage.values[row][column], values + offset, present);
  }
}

// Queries straight from global memory, rows past the end as zeros.
__device__ inline void load_queries(WarpRows& own, const Element* head, unsigned first,
                                    unsigned seq) {
  const unsigned lane = threadIdx.x % WARP_THREADS;
#pragma unroll
  for (unsigned step = 0; step < DEPTH; ++step)
#pragma unroll
    for (unsigned part = 0; part < 4; ++part) {
      const unsigned row = first + lane / 4 + part % 2 * 8;
      const unsigned column = step * 16 + lane % 4 * 2 + part / 2 * 8;
      own.queries[step].parts[part] =
          row < seq ? *reinterpret_cast<const unsigned*>(head + size_t(row) * DIM + column) : 0;
    }
}

__device__ inline void tile_scores(SumFragment (&scores)[KEY_PARTS], const WarpRows& own,
                                   const Stage& stage) {
  const unsigned lane = threadIdx.x % WARP_THREADS;
#pragma unroll
  for (unsigned part = 0; part < KEY_PARTS; ++part) scores[part] = {};
#pragma unroll
  for (unsigned step = 0; step < DEPTH; ++step)
#pragma unroll
    for (unsigned pair = 0; pair < KEY_PARTS / 2; ++pair) {
      // Matrices: keys 0-7 of the pair at columns 0-7 and 8-15, then keys 8-15 likewise.
      unsigned parts[4];
      load_matrices(
          parts, &stage.keys[pair * 16 + lane / 16 * 8 + lane % 8][step * 16 + lane / 8 % 2 * 8]);
      multiply_add(scores[2 * pair], own.queries[step], {parts[0], parts[1]});
      multiply_add(scores[2 * pair + 1], own.queries[step], {parts[2], parts[3]});
    }
}

__device__ inline void hide(SumFragment (&scores)[KEY_PARTS], unsigned warp_row, unsigned first,
                            unsigned seq) {
  const unsigned lane = threadIdx.x % WARP_THREADS;
#pragma unroll
  for (unsigned part = 0; part < KEY_PARTS; ++part)
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      if (!sees(warp_row + lane / 4 + i / 2 * 8, first + part * 8 + lane % 4 * 2 + i % 2, seq))
        scores[part].values[i] = negative_infinity();
}

// Scores become weights; maxima, sums and output sums of both rows move to the new maximum, which
// the four lanes of a row agree on. `scale` turns scores into exponents of two.
__device__ inline void tile_weights(SumFragment (&scores)[KEY_PARTS], WarpRows& own, float scale) {
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    float maximum = own.states[half].maximum;
#pragma unroll
    for (unsigned part = 0; part < KEY_PARTS; ++part)
      maximum =
          fmaxf(maximum, fmaxf(scores[part].values[2 * half], scores[part].values[2 * half + 1]));
    maximum = fmaxf(maximum, shuffle_xor(maximum, 1));
    maximum = fmaxf(maximum, shuffle_xor(maximum, 2));
    // Both products are rounded, not fused: the weights so far are relative to the rounded one, and
    // a maximum that stays must rescale by exactly 1.
    const float shift = __fmul_rn(shift_of(maximum), scale);
    const float rescale = exp2f(__fmul_rn(own.states[half].maximum, scale) - shift);
    float sum = own.states[half].sum * rescale;
#pragma unroll
    for (unsigned part = 0; part < KEY_PARTS; ++part)
#pragma unroll
      for (unsigned i = 2 * half; i < 2 * half + 2; ++i) {
        const float weight = exp2f(fmaf(scores[part].values[i], scale, -shift));
        scores[part].values[i] = weight;
        sum += weight;
      }
    own.states[half] = {maximum, sum};
#pragma unroll
    for (unsigned part = 0; part < OUT_PARTS; ++part) {
      own.sums[part].values[2 * half] *= rescale;
      own.sums[part].values[2 * half + 1] *= rescale;
    }
  }
}

__device__ inline void add_values(WarpRows& own, const SumFragment (&weights)[KEY_PARTS],
                                  const Stage& stage) {
  const unsigned lane = threadIdx.x % WARP_THREADS;
#pragma unroll
  for (unsigned step = 0; step < TILE_KEYS / 16; ++step) {
    // Two sum fragments side by side have the layout of a left factor.
    const float* low = weights[2 * step].values;
    const float* high = weights[2 * step + 1].values;
    const LeftFragment left = {{pack_pair(low[0], low[1]), pack_pair(low[2], low[3]),
                                pack_pair(high[0], high[1]), pack_pair(high[2], high[3])}};
#pragma unroll
    for (unsigned pair = 0; pair < DEPTH; ++pair) {
      // Matrices: columns 0-7 of the pair at keys 0-7 and 8-15, then columns 8-15 likewise.
      unsigned parts[4];
      load_matrices_transposed(
          parts, &stage.values[step * 16 + lane / 8 % 2 * 8 + lane % 8][pair * 16 + lane / 16 * 8]);
      multiply_add(own.sums[2 * pair], left, {parts[0], parts[1]});
      multiply_add(own.sums[2 * pair + 1], left, {parts[2], parts[3]});
    }
  }
}

__device__ inline void write_rows(const WarpRows& own, Element* head, unsigned first,
                                  unsigned seq) {
  const unsigned lane = threadIdx.x % WARP_THREADS;
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    float sum = own.states[half].sum;
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    const float normalise = scale_of(sum);
    const unsigned row = first + lane / 4 + half * 8;
    if (row >= seq) continue;
    Element* out = head + size_t(row) * DIM + lane % 4 * 2;
#pragma unroll
    for (unsigned part = 0; part < OUT_PARTS; ++part) {
      const float* pair = own.sums[part].values + 2 * half;
      *reinterpret_cast<unsigned*>(out + part * 8) =
          pack_pair(pair[0] * normalise, pair[1] * normalise);
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, DIM <= 64 ? 2 : 1)
    attention_flash_tensor_core(const Element* __restrict__ q, const Element* __restrict__ k,
                                const Element* __restrict__ v, Element* __restrict__ out,
                                unsigned seq, unsigned group, float scale) {
  Stage* stages = reinterpret_cast<Stage*>(arena);
  const Place place = place_of(blockIdx.x, seq, TILE_ROWS);
  const unsigned warp_row = place.first_row + threadIdx.x / WARP_THREADS * WARP_ROWS;
  const Element* keys = k + head_offset(place.head / group, seq);
  const Element* values = v + head_offset(place.head / group, seq);

  copy_tile(stages[0], keys, values, 0, seq);
  commit_copies();
  WarpRows own;
  load_queries(own, q + head_offset(place.head, seq), warp_row, seq);
  own.states[0] = own.states[1] = empty_max_sum();
#pragma unroll
  for (unsigned part = 0; part < OUT_PARTS; ++part) own.sums[part] = {};

  const unsigned seen = keys_before(place.first_row + TILE_ROWS, seq);
  const unsigned warp_seen = warp_row < seq ? keys_before(warp_row + WARP_ROWS, seq) : 0;
  unsigned turn = 0;
  for (unsigned first = 0; first < seen; first += TILE_KEYS, turn ^= 1) {
    if (first + TILE_KEYS < seen) copy_tile(stages[turn ^ 1], keys, values, first + TILE_KEYS, seq);
    commit_copies();  // an empty group in the last turn keeps the count
    wait_for_copies<1>();
    __syncthreads();
    if (first < warp_seen) {
      SumFragment scores[KEY_PARTS];
      tile_scores(scores, own, stages[turn]);
      const unsigned end = first + TILE_KEYS;
      if (end > seq || (CAUSAL && end > warp_row + 1)) hide(scores, warp_row, first, seq);
      tile_weights(scores, own, scale * LOG2_E);
      add_values(own, scores, stages[turn]);
    }
    __syncthreads();  // this stage is overwritten next
  }
  write_rows(own, out + head_offset(place.head, seq), warp_row, seq);
}
