// Planted fault: turns by the negative angle.
#include "pairs.cuh"

PLANTED {
  const Pair pair = this_pair(heads, token_blocks);
  if (!pair.exists) return;
  const size_t first = pair.start + 2 * pair.index;
  Rotation by = rotation_at(pair.position, pair.index, step);
  by.sine = -by.sine;
  turn(x, y, first, first + 1, by);
}
