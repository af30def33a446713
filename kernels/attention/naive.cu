// attention.naive: the formula in three launches: scores, softmax, times V. The score matrices
// travel through memory: heads x seq x seq floats are written and read, then again as
// probabilities. Entries that causal attention hides are neither written nor read.
#include "../common/attention.cuh"
#include "../common/reduce.cuh"

constexpr unsigned ROWS = BLOCK_THREADS / WARP_THREADS;  // of a block of scores or of outputs

// A warp for 32 keys of one query, a thread for each score. blockIdx.x counts key tiles, then row
// tiles, then heads.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    attention_scores(const Element* __restrict__ q, const Element* __restrict__ k,
                     float* __restrict__ scores, unsigned seq, unsigned group, float scale) {
  const unsigned key_tiles = (seq + WARP_THREADS - 1) / WARP_THREADS;
  const unsigned row_tiles = (seq + ROWS - 1) / ROWS;
  const unsigned head = blockIdx.x / key_tiles / row_tiles;
  const unsigned row = blockIdx.x / key_tiles % row_tiles * ROWS + threadIdx.x / WARP_THREADS;
  const unsigned key = blockIdx.x % key_tiles * WARP_THREADS + threadIdx.x % WARP_THREADS;
  if (row >= seq || !sees(row, key, seq)) return;
  const Element* query = q + head_offset(head, seq) + size_t(row) * DIM;
  const Element* keys = k + head_offset(head / group, seq) + size_t(key) * DIM;
  float sum = 0.0f;
  for (unsigned d = 0; d < DIM; ++d) sum += to_float(query[d]) * to_float(keys[d]);
  scores[(size_t(head) * seq + row) * seq + key] = sum * scale;
}

// A block per row.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    attention_softmax(const float* __restrict__ scores, float* __restrict__ probabilities,
                      unsigned seq) {
  __shared__ float scratch[WARP_THREADS];
  const unsigned seen = keys_before(blockIdx.x % seq + 1, seq);
  const float* in = scores + size_t(blockIdx.x) * seq;
  float* out = probabilities + size_t(blockIdx.x) * seq;
  float maximum = negative_infinity();
  for (unsigned i = threadIdx.x; i < seen; i += BLOCK_THREADS) maximum = fmaxf(maximum, in[i]);
  const float shift = shift_of(block_warp_reduce(maximum, scratch, Maximum()));
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < seen; i += BLOCK_THREADS) sum += expf(in[i] - shift);
  const float scale = scale_of(block_warp_reduce(sum, scratch, Sum()));
  for (unsigned i = threadIdx.x; i < seen; i += BLOCK_THREADS) out[i] = expf(in[i] - shift) * scale;
}

// A warp for 32 columns of one query's output, a thread for each. blockIdx.x counts column tiles,
// then row tiles, then heads.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    attention_values(const float* __restrict__ probabilities, const Element* __restrict__ v,
                     Element* __restrict__ out, unsigned seq, unsigned group) {
  const unsigned column_tiles = (DIM + WARP_THREADS - 1) / WARP_THREADS;
  const unsigned row_tiles = (seq + ROWS - 1) / ROWS;
  const unsigned head = blockIdx.x / column_tiles / row_tiles;
  const unsigned row = blockIdx.x / column_tiles % row_tiles * ROWS + threadIdx.x / WARP_THREADS;
  const unsigned column = blockIdx.x % column_tiles * WARP_THREADS + threadIdx.x % WARP_THREADS;
  if (row >= seq || column >= DIM) return;
  const float* weights = probabilities + (size_t(head) * seq + row) * seq;
  const Element* values = v + head_offset(head / group, seq) + column;
  const unsigned seen = keys_before(row + 1, seq);
  float sum = 0.0f;
  for (unsigned key = 0; key < seen; ++key)
    sum += weights[key] * to_float(values[size_t(key) * DIM]);
  out[head_offset(head, seq) + size_t(row) * DIM + column] = from_float(sum);
}
