// Planted fault: two parts are merged as if both held as many elements.
#include "rows.cuh"

struct Average {
  __device__ Moments operator()(Moments a, Moments b) const {
    const float delta = b.mean - a.mean;
    const float count = a.count + b.count;
    return {a.mean + delta * 0.5f, a.m2 + b.m2 + delta * delta * count * 0.25f, count};
  }
};

PLANTED {
  __shared__ Moments scratch[BLOCK_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const Moments all = row_moments(x + row, cols, scratch, Average());
  const float scale = rsqrtf(all.m2 / cols + epsilon);
  write_normalised(x + row, gamma, beta, y + row, cols, all.mean, scale);
}
