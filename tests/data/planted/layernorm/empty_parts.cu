// Planted fault: two empty parts are merged as 0 / 0, and NaN reaches the whole row.
#include "rows.cuh"

struct Unsafe {
  __device__ Moments operator()(Moments a, Moments b) const {
    const float count = a.count + b.count;
    const float delta = b.mean - a.mean;
    const float share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
  }
};

PLANTED {
  __shared__ Moments scratch[BLOCK_THREADS];
  const size_t row = size_t(blockIdx.x) * cols;
  const Moments all = row_moments(x + row, cols, scratch, Unsafe());
  const float scale = rsqrtf(all.m2 / cols + epsilon);
  write_normalised(x + row, gamma, beta, y + row, cols, all.mean, scale);
}
