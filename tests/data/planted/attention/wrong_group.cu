// Planted fault: heads of keys are dealt round to heads of queries, where each has neighbours.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return sees(row.index, key, seq); };
  const unsigned heads = gridDim.x / ((seq + BLOCK_ROWS - 1) / BLOCK_ROWS);
  attend({q, k, v, out}, row, row.head % (heads / group), seq, scale, seen, move_to);
}
