// layernorm.two_pass_warp: mean, then variance about it, as in naive, but the row is read once: it
// stays in registers between the passes, and only what does not fit there is read again. Vector
// accesses, warp shuffles. The rounded mean is corrected by the mean of the deviations from it,
// which the second pass sums as well, so that a mean far above the deviation costs nothing.
#include "../common/row.cuh"

// Sum of deviations from the rounded mean, and of their squares.
struct Deviations {
  float sum;
  float squares;
};

struct AddDeviations {
  __device__ Deviations operator()(Deviations a, Deviations b) const {
    return {a.sum + b.sum, a.squares + b.squares};
  }
};

__device__ inline Deviations shuffle_xor(Deviations part, unsigned offset) {
  return {shuffle_xor(part.sum, offset), shuffle_xor(part.squares, offset)};
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_two_pass_warp(const Element* __restrict__ x, const Element* __restrict__ gamma,
                            const Element* __restrict__ beta, Element* __restrict__ y,
                            unsigned cols, float epsilon) {
  __shared__ float sums[WARP_THREADS];
  __shared__ Deviations deviations[WARP_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  Row row;
  keep_row(row, in, cols);
  float sum = 0.0f;
  for_each_part(row, in, cols, [&](const RowPart& part, unsigned) {
#pragma unroll
    for (unsigned k = 0; k < ROW_WIDTH; ++k) sum += part.values[k];
  });
  const float mean = block_warp_reduce(sum, sums, Sum()) / float(cols);

  Deviations local = {0.0f, 0.0f};
  for_each_part(row, in, cols, [&](const RowPart& part, unsigned) {
#pragma unroll
    for (unsigned k = 0; k < ROW_WIDTH; ++k) {
      const float deviation = part.values[k] - mean;
      local.sum += deviation;
      local.squares += deviation * deviation;
    }
  });
  const Deviations total = block_warp_reduce(local, deviations, AddDeviations());
  const float shift = total.sum / float(cols);
  const float variance = (total.squares - total.sum * shift) / float(cols);
  const float scale = rsqrtf(variance + epsilon);

  for_each_part(row, in, cols, [&](const RowPart& part, unsigned place) {
    const RowPart g = Access::load(gamma + place), b = Access::load(beta + place);
    RowPart result;
#pragma unroll
    for (unsigned k = 0; k < ROW_WIDTH; ++k)
      result.values[k] = ((part.values[k] - mean) - shift) * scale * g.values[k] + b.values[k];
    Access::store(out + place, result);
  });
}
