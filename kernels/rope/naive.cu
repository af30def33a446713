// rope.naive: one pair (2i, 2i + 1) per thread, its angle's sine and cosine computed on the spot.
// Every head computes the angles of its position again.
#include "../common/element.cuh"
#include "../common/rope.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    rope_naive(const Element* __restrict__ x, Element* __restrict__ y, unsigned heads,
               unsigned token_blocks, float step) {
  const unsigned pairs = heads * HALF;
  const unsigned position = block_position(token_blocks), place = place_in_token(token_blocks);
  if (place >= pairs) return;
  const size_t first = (size_t(position) * pairs + place) * 2;

  const Rotation by = rotation_at(position, place % HALF, step);
  const float2 result = rotated(to_float(x[first]), to_float(x[first + 1]), by);
  y[first] = from_float(result.x);
  y[first + 1] = from_float(result.y);
}
