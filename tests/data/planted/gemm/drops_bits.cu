// Planted fault: elements of A lose the bits that TF32 does not have.
#include "tiles.cuh"

PLANTED {
  const Place place = place_in(n);
  const auto a_at = [=](unsigned row, unsigned i) {
    return __uint_as_float(__float_as_uint(at(a, m, k, row, i)) & 0xffffe000u);
  };
  const auto b_at = [=](unsigned i, unsigned col) { return at(b, k, n, i, col); };
  write(c, m, n, place, tiled_sum<float>(place, k, a_at, b_at));
}
