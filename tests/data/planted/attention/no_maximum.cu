// Planted fault: nothing is subtracted before exponentials.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return sees(row.index, key, seq); };
  const auto move = [](float, float) { return Move{0.0f, 1.0f, 1.0f}; };
  attend({q, k, v, out}, row, row.head / group, seq, scale, seen, move);
}
