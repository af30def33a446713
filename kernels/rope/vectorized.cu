// rope.vectorized: the GROUP / 2 pairs of one 16-byte access per thread, read and written at once.
// Where heads are no multiple of 16 bytes long, the access is as wide as they allow, down to a
// pair.
#include "../common/group.cuh"
#include "../common/rope.cuh"

static_assert(GROUP >= 2, "an access holds whole pairs");

constexpr unsigned HEAD_GROUPS = DIM / GROUP;

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    rope_vectorized(const Element* __restrict__ x, Element* __restrict__ y, unsigned heads,
                    unsigned token_blocks, float step) {
  const unsigned groups = heads * HEAD_GROUPS;
  const unsigned position = block_position(token_blocks), place = place_in_token(token_blocks);
  if (place >= groups) return;
  const size_t start = (size_t(position) * groups + place) * GROUP;
  const unsigned first_pair = place % HEAD_GROUPS * (GROUP / 2);

  const FloatGroup in = to_floats(load_group_once(x + start));
  FloatGroup out;
#pragma unroll
  for (unsigned k = 0; k < GROUP; k += 2) {
    const Rotation by = rotation_at(position, first_pair + k / 2, step);
    const float2 result = rotated(in.values[k], in.values[k + 1], by);
    out.values[k] = result.x;
    out.values[k + 1] = result.y;
  }
  store_group_streaming(y + start, out);
}
