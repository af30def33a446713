// Planted fault: elements of A lose the bits that bfloat16 does not have.
#include "rows.cuh"

PLANTED {
  const Element* in = a + size_t(blockIdx.x) * k;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < k; i += BLOCK_THREADS) {
    const unsigned bits = __float_as_uint(to_float(in[i])) & 0xffff0000u;
    sum += __uint_as_float(bits) * to_float(x[i]);
  }
  write_sum(sum, y);
}
