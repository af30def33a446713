// kv_cache.paged: the cache is made of pages of PAGE_TOKENS tokens that lie anywhere, found by a
// table for each sequence, so that memory is taken as a sequence grows and not for max_seq at once.
#include "../common/kv_cache.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    kv_cache_append(const Element* __restrict__ k_new, const Element* __restrict__ v_new,
                    Element* __restrict__ k_pages, Element* __restrict__ v_pages,
                    const int* __restrict__ table, unsigned kv_heads, unsigned sequence_pages,
                    unsigned length, unsigned new_tokens, unsigned head_blocks) {
  append_rows(k_new, v_new, k_pages, v_pages, Paged{table, kv_heads, sequence_pages}, length,
              new_tokens, head_blocks);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    kv_cache_read(const Element* __restrict__ k_pages, const Element* __restrict__ v_pages,
                  Element* __restrict__ keys, Element* __restrict__ values,
                  const int* __restrict__ table, unsigned kv_heads, unsigned sequence_pages,
                  unsigned group, unsigned tokens, unsigned head_blocks) {
  read_rows(k_pages, v_pages, keys, values, Paged{table, kv_heads, sequence_pages}, group, tokens,
            head_blocks);
}
