// What all planted attention kernels share: a thread per query row, and an online softmax whose
// maximum moves once in eight keys. They stand in for the variant flash_v3 at heads narrow enough
// for one thread a row: its entry point, its launch.
#pragma once
#include "attention.cuh"

static_assert(SHARERS == 1, "a thread per query row");

constexpr unsigned STEP = 8;

#define PLANTED                                                                                    \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) attention_flash_v3(                  \
      const Element* __restrict__ q, const Element* __restrict__ k, const Element* __restrict__ v, \
      Element* __restrict__ out, unsigned seq, unsigned group, float scale)

struct Tensors {
  const Element* q;
  const Element* k;
  const Element* v;
  Element* out;
};

// A thread's query row, and the head that it is of.
struct QueryRow {
  unsigned head, index;
};

__device__ inline QueryRow this_row(unsigned seq) {
  const Place place = place_of(blockIdx.x, seq, BLOCK_ROWS);
  return {place.head, place.first_row + threadIdx.x};
}

// What a step of keys does to what there is: weights are exp(score - shift), the sum of weights and
// the output sums are multiplied by a factor each.
struct Move {
  float shift, of_sum, of_output;
};

__device__ inline Move move_to(float old_maximum, float maximum) {
  const float shift = shift_of(maximum);
  const float factor = expf(old_maximum - shift);
  return {shift, factor, factor};
}

// One row's output, from keys and values of head `kv_head`. seen(key) says whether the row sees
// that key, move(old, maximum) gives a step's Move. Keys and values past the end are zeros.
template <typename Seen, typename Moves>
__device__ inline void attend(const Tensors& all, QueryRow row, unsigned kv_head, unsigned seq,
                              float scale, Seen seen, Moves move) {
  if (row.index >= seq) return;
  const Element* query = all.q + head_offset(row.head, seq) + size_t(row.index) * DIM;
  const Element* keys = all.k + head_offset(kv_head, seq);
  const Element* values = all.v + head_offset(kv_head, seq);
  MaxSum state = empty_max_sum();
  float sums[DIM];
  for (unsigned d = 0; d < DIM; ++d) sums[d] = 0.0f;
  for (unsigned first = 0; first < seq; first += STEP) {
    float scores[STEP];
    float maximum = state.maximum;
    for (unsigned i = 0; i < STEP; ++i) {
      const unsigned key = first + i;
      float score = 0.0f;
      for (unsigned d = 0; d < DIM && key < seq; ++d)
        score += to_float(query[d]) * to_float(keys[size_t(key) * DIM + d]);
      scores[i] = seen(key) ? score * scale : negative_infinity();
      maximum = fmaxf(maximum, scores[i]);
    }
    const Move by = move(state.maximum, maximum);
    state = {maximum, state.sum * by.of_sum};
    for (unsigned d = 0; d < DIM; ++d) sums[d] *= by.of_output;
    for (unsigned i = 0; i < STEP; ++i) {
      const unsigned key = first + i;
      const float weight = expf(scores[i] - by.shift);
      state.sum += weight;
      for (unsigned d = 0; d < DIM && key < seq; ++d)
        sums[d] += weight * to_float(values[size_t(key) * DIM + d]);
    }
  }
  Element* out = all.out + head_offset(row.head, seq) + size_t(row.index) * DIM;
  const float normalise = scale_of(state.sum);
  for (unsigned d = 0; d < DIM; ++d) out[d] = from_float(sums[d] * normalise);
}
