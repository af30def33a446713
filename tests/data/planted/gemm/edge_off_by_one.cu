// Planted fault: the edge of B is taken to be one column before the last.
#include "tiles.cuh"

PLANTED {
  const Place place = place_in(n);
  const auto a_at = [=](unsigned row, unsigned i) { return at(a, m, k, row, i); };
  const auto b_at = [=](unsigned i, unsigned col) {
    return col + 1 < n ? at(b, k, n, i, col) : 0.0f;
  };
  write(c, m, n, place, tiled_sum<float>(place, k, a_at, b_at));
}
