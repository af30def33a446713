// rope.half_rotation: pairs (i, i + dim / 2), the layout of common model weights. The partners of
// neighbouring elements are neighbours too: a thread takes one access from each half of a head and
// turns its GROUP pairs, with no element to be moved within an access.
#include "../common/group.cuh"
#include "../common/rope.cuh"

constexpr unsigned HALF_GROUPS = HALF / GROUP;

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    rope_half_rotation(const Element* __restrict__ x, Element* __restrict__ y, unsigned heads,
                       unsigned token_blocks, float step) {
  const unsigned position = block_position(token_blocks), place = place_in_token(token_blocks);
  const unsigned head = place / HALF_GROUPS;
  if (head >= heads) return;
  const unsigned first_pair = place % HALF_GROUPS * GROUP;
  const size_t low = (size_t(position) * heads + head) * DIM + first_pair, high = low + HALF;

  const FloatGroup first = to_floats(load_group_once(x + low));
  const FloatGroup second = to_floats(load_group_once(x + high));
  FloatGroup out_first, out_second;
#pragma unroll
  for (unsigned k = 0; k < GROUP; ++k) {
    const Rotation by = rotation_at(position, first_pair + k, step);
    const float2 result = rotated(first.values[k], second.values[k], by);
    out_first.values[k] = result.x;
    out_second.values[k] = result.y;
  }
  store_group_streaming(y + low, out_first);
  store_group_streaming(y + high, out_second);
}
