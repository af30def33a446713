// attention.flash_v1: one launch, and no score matrix: keys and values come in tiles of 32, and the
// online softmax keeps a running maximum and sum per row. What is summed so far lies in the output
// itself, in global memory, where each tile reads it, rescales it and writes it back: that traffic
// is what makes it slow. A block has 32 query rows; a warp owns a row, a lane a key.
#include "../common/attention.cuh"
#include "../common/reduce.cuh"

constexpr unsigned TILE = 32;
static_assert(BLOCK_THREADS == TILE * WARP_THREADS, "a warp per query row");
constexpr unsigned KEY_STRIDE = DIM + 1 - DIM % 2;  // odd, so that 32 keys lie in 32 banks

extern __shared__ float tiles[];

// Rows `first` to `first` + TILE of a head, zeros past the end of the sequence.
__device__ inline void load_tile(float* to, unsigned stride, const float* head, unsigned first,
                                 unsigned seq) {
  for (unsigned i = threadIdx.x; i < TILE * DIM; i += BLOCK_THREADS) {
    const unsigned row = i / DIM, column = i % DIM;
    to[row * stride + column] = first + row < seq ? head[size_t(first + row) * DIM + column] : 0.0f;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    attention_flash_v1(const float* __restrict__ q, const float* __restrict__ k,
                       const float* __restrict__ v, float* __restrict__ out, unsigned seq,
                       unsigned group, float scale) {
  float* queries = tiles;
  float* keys = queries + TILE * DIM;
  float* values = keys + TILE * KEY_STRIDE;
  const Place place = place_of(blockIdx.x, seq, TILE);
  const unsigned warp = threadIdx.x / WARP_THREADS, lane = threadIdx.x % WARP_THREADS;
  const unsigned row = place.first_row + warp;
  const size_t kv_offset = head_offset(place.head / group, seq);
  float* result = out + head_offset(place.head, seq) + size_t(row) * DIM;

  load_tile(queries, DIM, q + head_offset(place.head, seq), place.first_row, seq);
  MaxSum state = empty_max_sum();
  const unsigned seen = keys_before(place.first_row + TILE, seq);
  for (unsigned first = 0; first < seen; first += TILE) {
    load_tile(keys, KEY_STRIDE, k + kv_offset, first, seq);
    load_tile(values, DIM, v + kv_offset, first, seq);
    __syncthreads();
    float score = 0.0f;
    for (unsigned d = 0; d < DIM; ++d)
      score += queries[warp * DIM + d] * keys[lane * KEY_STRIDE + d];
    score = sees(row, first + lane, seq) ? score * scale : negative_infinity();

    const float maximum = fmaxf(state.maximum, warp_reduce(score, Maximum()));
    const float weight = expf(score - shift_of(maximum));
    const float rescale = expf(state.maximum - shift_of(maximum));
    state = {maximum, state.sum * rescale + warp_reduce(weight, Sum())};
    for (unsigned tile = 0; tile < DIM; tile += WARP_THREADS) {
      const unsigned d = tile + lane;
      float sum = 0.0f;
#pragma unroll 8
      for (unsigned key = 0; key < TILE; ++key) {
        const float shared_weight = __shfl_sync(FULL_WARP, weight, key);
        if (d < DIM) sum += shared_weight * values[key * DIM + d];
      }
      if (row < seq && d < DIM) result[d] = first == 0 ? sum : result[d] * rescale + sum;
    }
    __syncthreads();  // the tiles are overwritten next
  }
  if (row >= seq) return;
  const float normalise = scale_of(state.sum);
  for (unsigned d = lane; d < DIM; d += WARP_THREADS) result[d] *= normalise;
}
