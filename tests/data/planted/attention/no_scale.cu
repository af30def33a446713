// Planted fault: scores are not divided by the root of the width.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return sees(row.index, key, seq); };
  attend({q, k, v, out}, row, row.head / group, seq, 1.0f, seen, move_to);
}
