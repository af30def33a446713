// softmax.thread_per_row: one launch in place of four, each thread alone with its row, in three
// passes. Neighbouring threads read addresses a whole row apart, and a matrix of few rows fills
// few threads.
#include "../common/element.cuh"
#include "../common/softmax.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_thread_per_row(const Element* __restrict__ x, Element* __restrict__ y, unsigned rows,
                           unsigned cols) {
  const size_t row = size_t(blockIdx.x) * BLOCK_THREADS + threadIdx.x;
  if (row >= rows) return;
  const Element* in = x + row * cols;
  Element* out = y + row * cols;

  float maximum = negative_infinity();
  for (unsigned i = 0; i < cols; ++i) maximum = fmaxf(maximum, to_float(in[i]));
  const float shift = shift_of(maximum);

  // Kahan's summation: a chain as long as the row would lose each term that is under half a unit
  // in the last place of the sum so far.
  float sum = 0.0f, lost = 0.0f;
  for (unsigned i = 0; i < cols; ++i) {
    const float term = expf(to_float(in[i]) - shift) - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  const float scale = scale_of(sum);
  for (unsigned i = 0; i < cols; ++i) out[i] = from_float(expf(to_float(in[i]) - shift) * scale);
}
