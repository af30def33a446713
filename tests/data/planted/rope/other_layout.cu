// Planted fault: pairs (i, i + dim / 2) where (2i, 2i + 1) are meant.
#include "pairs.cuh"

PLANTED {
  const Pair pair = this_pair(heads, token_blocks);
  if (!pair.exists) return;
  const size_t first = pair.start + pair.index;
  turn(x, y, first, first + HALF, rotation_at(pair.position, pair.index, step));
}
