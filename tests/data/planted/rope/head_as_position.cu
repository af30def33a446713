// Planted fault: takes the tensor for [heads, seq, dim], and heads for positions.
#include "pairs.cuh"

PLANTED {
  const Pair pair = this_pair(heads, token_blocks);
  if (!pair.exists) return;
  const size_t first = pair.start + 2 * pair.index;
  turn(x, y, first, first + 1, rotation_at(pair.head, pair.index, step));
}
