// softmax.thread_per_row: one launch in place of four, each thread alone with its row, in three
// passes. Neighbouring threads read addresses a whole row apart, and a matrix of few rows fills
// few threads.
#include "../common/softmax.cuh"

// Elements summed before they join the row's total: a long row added one by one would lose every
// term that is under half a unit in the last place of the total so far.
constexpr unsigned CHUNK = 1024;

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_thread_per_row(const float* __restrict__ x, float* __restrict__ y, unsigned rows,
                           unsigned cols) {
  const size_t row = size_t(blockIdx.x) * BLOCK_THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * cols;
  float* out = y + row * cols;

  float maximum = negative_infinity();
  for (unsigned i = 0; i < cols; ++i) maximum = fmaxf(maximum, in[i]);
  const float shift = shift_of(maximum);

  float sum = 0.0f;
  for (unsigned start = 0; start < cols; start += CHUNK) {
    const unsigned end = cols - start < CHUNK ? cols : start + CHUNK;
    float partial = 0.0f;
    for (unsigned i = start; i < end; ++i) partial += expf(in[i] - shift);
    sum += partial;
  }
  const float scale = scale_of(sum);
  for (unsigned i = 0; i < cols; ++i) out[i] = expf(in[i] - shift) * scale;
}
