// attention.flash_v2: each value that is read from shared memory is used for several rows. A thread
// holds a small tile of scores and of outputs (4 rows each) in place of one row, so that the ratio
// of arithmetic to shared-memory reads grows; 16 threads share a row and reduce its maximum by
// shuffles. The block's query tile stays, and the loop over keys and values is inside
// (FlashAttention-2), so that nothing is rescaled in memory.
#include "../common/attention_tile.cuh"

extern __shared__ float4 arena[];

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    attention_flash_v2(const Element* __restrict__ q, const Element* __restrict__ k,
                       const Element* __restrict__ v, Element* __restrict__ out, unsigned seq,
                       unsigned group, float scale) {
  SharedTiles& tiles = *reinterpret_cast<SharedTiles*>(arena);
  const Place place = place_of(blockIdx.x, seq, TILE_ROWS);
  const size_t offset = head_offset(place.head, seq);
  const size_t kv_offset = head_offset(place.head / group, seq);
  attend<Element, Element>(tiles, {q + offset, DIM}, {k + kv_offset, DIM}, {v + kv_offset, DIM},
                           {out + offset, DIM}, place.first_row, seq, scale, DIM % 4 == 0);
}
