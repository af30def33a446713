// Planted fault: the sums of values are not rescaled where the maximum grows.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return sees(row.index, key, seq); };
  const auto move = [](float old_maximum, float maximum) {
    const Move by = move_to(old_maximum, maximum);
    return Move{by.shift, by.of_sum, 1.0f};
  };
  attend({q, k, v, out}, row, row.head / group, seq, scale, seen, move);
}
