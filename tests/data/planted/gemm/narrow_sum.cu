// Planted fault: the sum is kept in float16: it loses bits, and overflows on the way.
#include <cuda_fp16.h>

#include "tiles.cuh"

PLANTED {
  const Place place = place_in(n);
  const auto a_at = [=](unsigned row, unsigned i) { return at(a, m, k, row, i); };
  const auto b_at = [=](unsigned i, unsigned col) { return at(b, k, n, i, col); };
  write(c, m, n, place, tiled_sum<__half>(place, k, a_at, b_at));
}
