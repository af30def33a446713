// kv_cache.naive: one element per thread. New tokens go behind the `length` tokens that are there,
// in a cache whose heads lie max_seq tokens apart, however many there are; then every query head
// reads its key head's tokens from the cache.
#include "../common/kv_cache.cuh"

static_assert(GROUP == 1, "one element an access");

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    kv_cache_append(const Element* __restrict__ k_new, const Element* __restrict__ v_new,
                    Element* __restrict__ k_cache, Element* __restrict__ v_cache, unsigned kv_heads,
                    unsigned max_seq, unsigned length, unsigned new_tokens, unsigned head_blocks) {
  append_rows(k_new, v_new, k_cache, v_cache, Contiguous{kv_heads, max_seq}, length, new_tokens,
              head_blocks);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    kv_cache_read(const Element* __restrict__ k_cache, const Element* __restrict__ v_cache,
                  Element* __restrict__ keys, Element* __restrict__ values, unsigned kv_heads,
                  unsigned max_seq, unsigned group, unsigned tokens, unsigned head_blocks) {
  const Part part = part_of_thread(head_blocks);
  if (part.group >= tokens * DIM) return;
  const unsigned heads = kv_heads * group;
  const Contiguous layout = {kv_heads, max_seq};
  const unsigned kv_head = part.head % heads / group, token = part.group / DIM;
  const size_t from = layout.row(part.head / heads, kv_head, token) * DIM + part.group % DIM;
  const size_t to = size_t(part.head) * tokens * DIM + part.group;
  keys[to] = k_cache[from];
  values[to] = v_cache[from];
}
