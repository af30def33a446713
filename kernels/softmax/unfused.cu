// softmax.unfused: the formula line by line, one launch each: row maximum, exponential, row sum,
// division. The intermediate tensor travels through memory: about 6N elements where 2N would do.
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    row_max(const float* __restrict__ x, float* __restrict__ maxima, unsigned cols) {
  __shared__ float scratch[BLOCK_THREADS];
  const float* row = x + size_t(blockIdx.x) * cols;
  float local = negative_infinity();
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) local = fmaxf(local, row[i]);
  float maximum = block_tree_reduce(local, scratch, Maximum());
  if (threadIdx.x == 0) maxima[blockIdx.x] = maximum;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    exp_shifted(const float* __restrict__ x, const float* __restrict__ maxima,
                float* __restrict__ y, unsigned cols) {
  const size_t base = size_t(blockIdx.x) * cols;
  const float shift = shift_of(maxima[blockIdx.x]);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS)
    y[base + i] = expf(x[base + i] - shift);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    row_sum(const float* __restrict__ y, float* __restrict__ sums, unsigned cols) {
  __shared__ float scratch[BLOCK_THREADS];
  const float* row = y + size_t(blockIdx.x) * cols;
  float local = 0.0f;
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) local += row[i];
  float sum = block_tree_reduce(local, scratch, Sum());
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    divide(float* __restrict__ y, const float* __restrict__ sums, unsigned cols) {
  const size_t base = size_t(blockIdx.x) * cols;
  const float scale = scale_of(sums[blockIdx.x]);
  for (unsigned i = threadIdx.x; i < cols; i += BLOCK_THREADS) y[base + i] *= scale;
}
