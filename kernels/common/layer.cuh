// The steps of an attention layer that its variants share: projections, and attention over rows in
// which a token's queries, keys and values lie side by side.
#pragma once
#include "attention_tile.cuh"
#include "gemm_tile.cuh"
#include "matrix_tiles.cuh"
#include "rope.cuh"

#if !defined(TILE_M) || !defined(TILE_N) || !defined(HIDDEN_BY_QUAD)
#error "compile with -D TILE_M, TILE_N (multiples of 64) and -D HIDDEN_BY_QUAD (0 or 1)"
#endif

constexpr bool DIM_BY_QUAD = DIM % 4 == 0;
typedef GemmTile<TILE_M, TILE_N, HIDDEN_BY_QUAD, DIM_BY_QUAD, DIM_BY_QUAD> TileIn;
typedef GemmTile<TILE_M, TILE_N, DIM_BY_QUAD, HIDDEN_BY_QUAD, HIDDEN_BY_QUAD> TileOut;

// The block's tile of C = A B, all row-major and dense.
template <typename Tile, typename Out, typename Finish>
__device__ inline void project(const Element* a, const Element* b, Out* c, unsigned m, unsigned n,
                               unsigned k, Finish finish) {
  __shared__ typename Tile::Tiles tiles[2];
  const TilePlace place =
      tile_of_block(blockIdx.x, (m + TILE_M - 1) / TILE_M, (n + TILE_N - 1) / TILE_N);
  const Product<Element, Out> product = {a, b, c, m, n, k, k, n, n};
  Tile::compute(product, place.row * TILE_M, place.col * TILE_N, tiles, finish);
}

// Row `token` of qkv holds the token's query heads, then its key heads, then its value heads.
__device__ inline void attend_rows(const float* qkv, Element* attended, unsigned seq,
                                   unsigned heads, unsigned kv_heads, float scale, float4* arena) {
  SharedTiles& tiles = *reinterpret_cast<SharedTiles*>(arena);
  const Place place = place_of(blockIdx.x, seq, TILE_ROWS);
  const unsigned kv_head = place.head / (heads / kv_heads);
  const size_t width = size_t(heads + 2 * kv_heads) * DIM;
  const float* keys = qkv + size_t(heads + kv_head) * DIM;
  attend<float, Element>(tiles, {qkv + size_t(place.head) * DIM, width}, {keys, width},
                         {keys + size_t(kv_heads) * DIM, width},
                         {attended + size_t(place.head) * DIM, size_t(heads) * DIM},
                         place.first_row, seq, scale, DIM_BY_QUAD);
}

#define LAYER_ATTENTION(name)                                                           \
  extern __shared__ float4 arena[];                                                     \
  extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)                        \
      name(const float* __restrict__ qkv, Element* __restrict__ attended, unsigned seq, \
           unsigned heads, unsigned kv_heads, float scale) {                            \
    attend_rows(qkv, attended, seq, heads, kv_heads, scale, arena);                     \
  }

#define LAYER_PROJECT_OUT(name)                                                      \
  extern "C" __global__ void __launch_bounds__(TileOut::THREADS)                     \
      name(const Element* __restrict__ attended, const Element* __restrict__ w_out,  \
           Element* __restrict__ y, unsigned seq, unsigned hidden, unsigned inner) { \
    project<TileOut>(attended, w_out, y, seq, hidden, inner, AsTheyAre());           \
  }
