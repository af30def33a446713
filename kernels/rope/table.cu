// rope.table: as rope.vectorized, with cosines and sines read from float32 tables [seq, dim / 2]
// instead of computed. All heads of a position read the same row of the tables, from the caches.
#include "../common/group.cuh"
#include "../common/rope.cuh"

static_assert(GROUP >= 2, "an access holds whole pairs");

constexpr unsigned HEAD_GROUPS = DIM / GROUP;

struct alignas(GROUP / 2 * sizeof(float)) TablePart {
  float values[GROUP / 2];
};

__device__ inline TablePart load_part(const float* address) {
  typedef Raw<sizeof(TablePart)>::Type RawPart;
  const RawPart raw = *reinterpret_cast<const RawPart*>(address);
  return *reinterpret_cast<const TablePart*>(&raw);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    rope_table(const Element* __restrict__ x, const float* __restrict__ cosines,
               const float* __restrict__ sines, Element* __restrict__ y, unsigned heads,
               unsigned token_blocks) {
  const unsigned groups = heads * HEAD_GROUPS;
  const unsigned position = block_position(token_blocks), place = place_in_token(token_blocks);
  if (place >= groups) return;
  const size_t start = (size_t(position) * groups + place) * GROUP;
  const size_t angle = (size_t(position) * HEAD_GROUPS + place % HEAD_GROUPS) * (GROUP / 2);

  const FloatGroup in = to_floats(load_group_once(x + start));
  const TablePart cosine = load_part(cosines + angle), sine = load_part(sines + angle);
  FloatGroup out;
#pragma unroll
  for (unsigned k = 0; k < GROUP; k += 2) {
    const Rotation by = {cosine.values[k / 2], sine.values[k / 2]};
    const float2 result = rotated(in.values[k], in.values[k + 1], by);
    out.values[k] = result.x;
    out.values[k + 1] = result.y;
  }
  store_group_streaming(y + start, out);
}
