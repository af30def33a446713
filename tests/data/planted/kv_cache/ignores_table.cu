// Planted fault: pages are taken to lie in order, whatever the table says.
#include "kv_cache.cuh"

struct InOrder {
  unsigned kv_heads, sequence_pages;

  __device__ size_t row(unsigned sequence, unsigned kv_head, unsigned token) const {
    const size_t page = size_t(sequence) * sequence_pages + token / PAGE_TOKENS;
    return (page * kv_heads + kv_head) * PAGE_TOKENS + token % PAGE_TOKENS;
  }
};

extern "C" __global__ void kv_cache_append(const Element* k_new, const Element* v_new,
                                           Element* k_pages, Element* v_pages, const int*,
                                           unsigned kv_heads, unsigned sequence_pages,
                                           unsigned length, unsigned new_tokens,
                                           unsigned head_blocks) {
  append_rows(k_new, v_new, k_pages, v_pages, InOrder{kv_heads, sequence_pages}, length, new_tokens,
              head_blocks);
}

extern "C" __global__ void kv_cache_read(const Element* k_pages, const Element* v_pages,
                                         Element* keys, Element* values, const int*,
                                         unsigned kv_heads, unsigned sequence_pages, unsigned group,
                                         unsigned tokens, unsigned head_blocks) {
  read_rows(k_pages, v_pages, keys, values, InOrder{kv_heads, sequence_pages}, group, tokens,
            head_blocks);
}
