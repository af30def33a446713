// A cache of keys or values: where a token's row of DIM elements lies, and how rows are added and
// read back, GROUP elements at a time.
#pragma once
#include "group.cuh"

#if !defined(BLOCK_THREADS) || !defined(DIM) || !defined(PAGE_TOKENS)
#error "compile with -D BLOCK_THREADS, -D DIM=<elements of a row> and -D PAGE_TOKENS"
#endif

constexpr unsigned ROW_GROUPS = DIM / GROUP;
static_assert(DIM % GROUP == 0, "rows are whole groups");

// [batch, kv_heads, max_seq, DIM]: room for max_seq tokens, however many there are.
struct Contiguous {
  unsigned kv_heads, max_seq;

  __device__ size_t row(unsigned sequence, unsigned kv_head, unsigned token) const {
    return (size_t(sequence) * kv_heads + kv_head) * max_seq + token;
  }
};

// [pages, kv_heads, PAGE_TOKENS, DIM]: tokens of a sequence lie in the pages that its row of the
// table names.
struct Paged {
  const int* table;
  unsigned kv_heads, sequence_pages;

  __device__ size_t row(unsigned sequence, unsigned kv_head, unsigned token) const {
    const size_t page = table[size_t(sequence) * sequence_pages + token / PAGE_TOKENS];
    return (page * kv_heads + kv_head) * PAGE_TOKENS + token % PAGE_TOKENS;
  }
};

// The part of a block in [heads in all, tokens, DIM]: blocks keep to one head of one sequence,
// `head_blocks` of them share its groups, one for each thread.
struct Part {
  unsigned head, group;
};

__device__ inline Part part_of_thread(unsigned head_blocks) {
  return {blockIdx.x / head_blocks, blockIdx.x % head_blocks * BLOCK_THREADS + threadIdx.x};
}

__device__ inline void copy_group(Element* to, const Element* from) {
  *reinterpret_cast<RawGroup*>(to) = *reinterpret_cast<const RawGroup*>(from);
}

// New tokens [batch, kv_heads, new_tokens, DIM] become tokens `length` on of the cache.
template <typename Layout>
__device__ inline void append_rows(const Element* k_new, const Element* v_new, Element* k_cache,
                                   Element* v_cache, Layout layout, unsigned length,
                                   unsigned new_tokens, unsigned head_blocks) {
  const Part part = part_of_thread(head_blocks);
  if (part.group >= new_tokens * ROW_GROUPS) return;
  const unsigned token = part.group / ROW_GROUPS, column = part.group % ROW_GROUPS * GROUP;
  const size_t from = (size_t(part.head) * new_tokens + token) * DIM + column;
  const size_t to =
      layout.row(part.head / layout.kv_heads, part.head % layout.kv_heads, length + token) * DIM +
      column;
  copy_group(k_cache + to, k_new + from);
  copy_group(v_cache + to, v_new + from);
}

// Tokens 0 to tokens - 1 of the cache go to [batch, kv_heads group, tokens, DIM]: each key head is
// read once and written for all `group` query heads that share it.
template <typename Layout>
__device__ inline void read_rows(const Element* k_cache, const Element* v_cache, Element* keys,
                                 Element* values, Layout layout, unsigned group, unsigned tokens,
                                 unsigned head_blocks) {
  const Part part = part_of_thread(head_blocks);
  if (part.group >= tokens * ROW_GROUPS) return;
  const unsigned token = part.group / ROW_GROUPS, column = part.group % ROW_GROUPS * GROUP;
  const size_t from =
      layout.row(part.head / layout.kv_heads, part.head % layout.kv_heads, token) * DIM + column;
  const Group key = load_group_once(k_cache + from), value = load_group_once(v_cache + from);
  for (unsigned copy = 0; copy < group; ++copy) {
    const size_t to = ((size_t(part.head) * group + copy) * tokens + token) * DIM + column;
    *reinterpret_cast<Group*>(keys + to) = key;
    *reinterpret_cast<Group*>(values + to) = value;
  }
}
