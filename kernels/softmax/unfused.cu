// softmax.unfused: the formula line by line, one launch each: row maximum, exponential, row sum,
// division. The intermediate tensor travels through memory: about 6N elements where 2N would do.
// Intermediates are float32 whatever the tensors are: exponentials under 2^-25 would vanish from a
// float16 tensor, and a sum of 65520 or more would be infinite.
#include "../common/element.cuh"
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    row_max(const Element* __restrict__ x, float* __restrict__ maxima, unsigned cols) {
  __shared__ float scratch[BLOCK_THREADS];
  const Element* row = x + size_t(blockIdx.x) * cols;
  float local = negative_infinity();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    local = fmaxf(local, to_float(row[i]));
  float maximum = block_tree_reduce(local, scratch, Maximum());
  if (threadIdx.x == 0) maxima[blockIdx.x] = maximum;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    exp_shifted(const Element* __restrict__ x, const float* __restrict__ maxima,
                float* __restrict__ exponentials, unsigned cols) {
  const size_t base = size_t(blockIdx.x) * cols;
  const float shift = shift_of(maxima[blockIdx.x]);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    exponentials[base + i] = expf(to_float(x[base + i]) - shift);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    row_sum(const float* __restrict__ exponentials, float* __restrict__ sums, unsigned cols) {
  __shared__ float scratch[BLOCK_THREADS];
  const float* row = exponentials + size_t(blockIdx.x) * cols;
  float local = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) local += row[i];
  float sum = block_tree_reduce(local, scratch, Sum());
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// float32: y itself holds the exponentials, and the division is in place.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    divide(float* __restrict__ y, const float* __restrict__ sums, unsigned cols) {
  const size_t base = size_t(blockIdx.x) * cols;
  const float scale = scale_of(sums[blockIdx.x]);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) y[base + i] *= scale;
}

// Narrower types: the exponentials lie in a tensor of their own.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    divide_narrow(const float* __restrict__ exponentials, const float* __restrict__ sums,
                  Element* __restrict__ y, unsigned cols) {
  const size_t base = size_t(blockIdx.x) * cols;
  const float scale = scale_of(sums[blockIdx.x]);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    y[base + i] = from_float(exponentials[base + i] * scale);
}
