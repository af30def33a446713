// kv_cache.vectorized: accesses of up to 16 bytes, and each key head is read once for all query
// heads that share it.
#include "../common/kv_cache.cuh"

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
  read_rows(k_cache, v_cache, keys, values, Contiguous{kv_heads, max_seq}, group, tokens,
            head_blocks);
}
