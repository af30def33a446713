// Planted fault: causal rows see the keys before their own alone, and the first none.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return key < seq && (!CAUSAL || key < row.index); };
  attend({q, k, v, out}, row, row.head / group, seq, scale, seen, move_to);
}
