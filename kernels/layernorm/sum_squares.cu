// layernorm.sum_squares: sum and sum of squares in one pass, the variance as E[x^2] - mean^2: x is
// read twice where naive reads it three times. Kept to show what that costs: where the mean is far
// above the deviation, two large numbers cancel and the variance is rounding error, at times a
// negative one, whose root is NaN. Nothing here hides that.
#include "../common/layernorm.cuh"

struct Sums {
  float values;
  float squares;
};

struct AddSums {
  __device__ Sums operator()(Sums a, Sums b) const {
    return {a.values + b.values, a.squares + b.squares};
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_sum_squares(const Element* __restrict__ x, const Element* __restrict__ gamma,
                          const Element* __restrict__ beta, Element* __restrict__ y, unsigned cols,
                          float epsilon) {
  __shared__ Sums scratch[BLOCK_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  Sums local = {0.0f, 0.0f};
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) {
    const float value = to_float(in[i]);
    local.values += value;
    local.squares += value * value;
  }
  const Sums row = block_tree_reduce(local, scratch, AddSums());

  const float mean = row.values / float(cols);
  // The square is rounded before it is subtracted, as each x^2 was: a row of one element, or of
  // equal ones whose sums are exact, has variance 0.
  const float variance = row.squares / float(cols) - __fmul_rn(mean, mean);
  write_normalised(in, gamma, beta, out, cols, mean, rsqrtf(variance + epsilon));
}
