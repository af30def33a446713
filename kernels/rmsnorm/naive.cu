// rmsnorm.naive: one thread per row, two passes, no cooperation. Neighbouring threads read
// addresses a whole row apart, and a matrix of few rows fills few threads. -D RMSNORM_BIAS adds a
// bias.
#include "../common/element.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    rmsnorm_naive(const Element* __restrict__ x, const Element* __restrict__ weight,
#ifdef RMSNORM_BIAS
                  const Element* __restrict__ bias,
#endif
                  Element* __restrict__ y, unsigned rows, unsigned cols, float epsilon) {
  const size_t row = size_t(blockIdx.x) * BLOCK_THREADS + threadIdx.x;
  if (row >= rows) return;
  const Element* in = x + row * cols;
  Element* out = y + row * cols;

  // Kahan's summation: a chain as long as the row would lose each term that is under half a unit
  // in the last place of the sum so far. It turns infinities into NaN, which a plain sum does not.
  float sum = 0.0f, lost = 0.0f, plain = 0.0f;
  for (unsigned i = 0; i < cols; ++i) {
    const float square = to_float(in[i]) * to_float(in[i]);
    const float term = square - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
    plain += square;
  }
  if (isinf(plain)) sum = plain;
  // Epsilon stands inside the root: outside, it would do nothing for rows near zero.
  const float scale = rsqrtf(sum / float(cols) + epsilon);
  for (unsigned i = 0; i < cols; ++i) {
    float result = to_float(in[i]) * scale * to_float(weight[i]);
#ifdef RMSNORM_BIAS
    result += to_float(bias[i]);
#endif
    out[i] = from_float(result);
  }
}
