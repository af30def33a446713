// The two launches of kv_cache.naive, written plainly, with a place for each planted fault.
#pragma once
#include "kv_cache.cuh"

#ifndef HEAD_TOKENS
#define HEAD_TOKENS max_seq
#endif
#ifndef KV_HEAD
#define KV_HEAD (head / group)
#endif
#ifndef READ_TOKENS
#define READ_TOKENS tokens
#endif
#ifndef FIRST_NEW
#define FIRST_NEW length
#endif

extern "C" __global__ void kv_cache_append(const Element* k_new, const Element* v_new,
                                           Element* k_cache, Element* v_cache, unsigned kv_heads,
                                           unsigned max_seq, unsigned length, unsigned new_tokens,
                                           unsigned head_blocks) {
  const unsigned tokens = length + new_tokens;
  const Part part = part_of_thread(head_blocks);
  if (part.group >= new_tokens * DIM) return;
  const size_t from = size_t(part.head) * new_tokens * DIM + part.group;
  const size_t to = (size_t(part.head) * HEAD_TOKENS + FIRST_NEW) * DIM + part.group;
  k_cache[to] = k_new[from];
  v_cache[to] = v_new[from];
}

extern "C" __global__ void kv_cache_read(const Element* k_cache, const Element* v_cache,
                                         Element* keys, Element* values, unsigned kv_heads,
                                         unsigned max_seq, unsigned group, unsigned tokens,
                                         unsigned head_blocks) {
  const Part part = part_of_thread(head_blocks);
  if (part.group >= READ_TOKENS * DIM) return;
  const unsigned heads = kv_heads * group, head = part.head % heads;
  const size_t row = size_t(part.head / heads) * kv_heads + KV_HEAD;
  const size_t from = row * HEAD_TOKENS * DIM + part.group;
  const size_t to = size_t(part.head) * tokens * DIM + part.group;
  keys[to] = k_cache[from];
  values[to] = v_cache[from];
}
