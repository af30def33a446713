// Planted fault: causal rows see one key too many, the one after their own.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return key < seq && (!CAUSAL || key <= row.index + 1); };
  attend({q, k, v, out}, row, row.head / group, seq, scale, seen, move_to);
}
