// gemv.naive: a thread per row of A. Neighbouring threads read addresses a whole row apart, so that
// a warp's load touches 32 lines for one element of each; x is read at one address by all of them.
#include "../common/element.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    gemv_naive(const Element* __restrict__ a, const Element* __restrict__ x,
               Element* __restrict__ y, unsigned m, unsigned k) {
  const unsigned row = blockIdx.x * BLOCK_THREADS + threadIdx.x;
  if (row >= m) return;
  const Element* in = a + size_t(row) * k;
  float sum = 0.0f;
  for (unsigned i = 0; i < k; ++i) sum += to_float(in[i]) * to_float(x[i]);
  y[row] = from_float(sum);
}
