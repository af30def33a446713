// Planted fault: none. The control: this kernel must pass.
#include "pairs.cuh"

PLANTED {
  const Pair pair = this_pair(heads, token_blocks);
  if (!pair.exists) return;
  const size_t first = pair.start + 2 * pair.index;
  turn(x, y, first, first + 1, rotation_at(pair.position, pair.index, step));
}
