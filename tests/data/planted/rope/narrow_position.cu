// Planted fault: positions are held in bfloat16, which has no odd numbers past 256.
#include "pairs.cuh"

PLANTED {
  const Pair pair = this_pair(heads, token_blocks);
  if (!pair.exists) return;
  const size_t first = pair.start + 2 * pair.index;
  const unsigned bits = __float_as_uint(float(pair.position)) & 0xffff0000u;
  const unsigned position = unsigned(__uint_as_float(bits));
  turn(x, y, first, first + 1, rotation_at(position, pair.index, step));
}
