// Planted fault: where all is seen, keys past the end are too, with a score of zero.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return !CAUSAL || key <= row.index; };
  attend({q, k, v, out}, row, row.head / group, seq, scale, seen, move_to);
}
