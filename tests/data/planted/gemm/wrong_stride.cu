// Planted fault: rows of A are taken to be as long as those of B.
#include "tiles.cuh"

PLANTED {
  const Place place = place_in(n);
  const auto a_at = [=](unsigned row, unsigned i) {
    return row < m && i < k ? to_float(a[size_t(row) * n + i]) : 0.0f;
  };
  const auto b_at = [=](unsigned i, unsigned col) { return at(b, k, n, i, col); };
  write(c, m, n, place, tiled_sum<float>(place, k, a_at, b_at));
}
