// Planted fault: none. The control: this kernel must pass.
#include "rows.cuh"

PLANTED {
  const QueryRow row = this_row(seq);
  const auto seen = [=](unsigned key) { return sees(row.index, key, seq); };
  attend({q, k, v, out}, row, row.head / group, seq, scale, seen, move_to);
}
