// Planted fault: what is behind the last whole tile along k is left out.
#include "tiles.cuh"

PLANTED {
  const Place place = place_in(n);
  const auto a_at = [=](unsigned row, unsigned i) { return at(a, m, k, row, i); };
  const auto b_at = [=](unsigned i, unsigned col) { return at(b, k, n, i, col); };
  write(c, m, n, place, tiled_sum<float>(place, k / TILE * TILE, a_at, b_at));
}
