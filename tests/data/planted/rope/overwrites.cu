// Planted fault: the second of a pair is made from the first as already turned.
#include "pairs.cuh"

PLANTED {
  const Pair pair = this_pair(heads, token_blocks);
  if (!pair.exists) return;
  const size_t first = pair.start + 2 * pair.index;
  const Rotation by = rotation_at(pair.position, pair.index, step);
  float a = to_float(x[first]), b = to_float(x[first + 1]);
  a = a * by.cosine - b * by.sine;
  b = a * by.sine + b * by.cosine;
  y[first] = from_float(a);
  y[first + 1] = from_float(b);
}
