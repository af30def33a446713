// What all attention kernels agree on: which keys a query sees, which head's keys it reads, and
// where in the grid a block's query rows are.
#pragma once
#include "element.cuh"
#include "softmax.cuh"

#if !defined(DIM) || !defined(CAUSAL)
#error "compile with -D DIM=<elements per head> -D CAUSAL=<0 or 1>"
#endif

constexpr float LOG2_E = 1.4426950408889634f;

// How many keys, counted from the first, some query before `row_end` sees.
__device__ inline unsigned keys_before(unsigned row_end, unsigned seq) {
  return CAUSAL && row_end < seq ? row_end : seq;
}

__device__ inline bool sees(unsigned row, unsigned key, unsigned seq) {
  return key < seq && (!CAUSAL || key <= row);
}

// A block's head and its first query row. Neighbouring blocks share a head, whose keys L2 then
// holds. Causal: the last rows, which see most keys, start first, so that none is left for the end.
struct Place {
  unsigned head, first_row;
};

__device__ inline Place place_of(unsigned block, unsigned seq, unsigned block_rows) {
  const unsigned tiles = (seq + block_rows - 1) / block_rows;
  const unsigned tile = block % tiles;
  return {block / tiles, (CAUSAL ? tiles - 1 - tile : tile) * block_rows};
}

// Where head `head` of a [heads, seq, DIM] tensor starts.
__device__ inline size_t head_offset(unsigned head, unsigned seq) {
  return size_t(head) * seq * DIM;
}
