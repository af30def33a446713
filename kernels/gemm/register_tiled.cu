// gemm.register_tiled: a thread computes 8 x 8 elements of C in registers, so that each value read
// from shared memory serves 8 multiply-adds and not one. A block's tile of C is TILE_M x TILE_N.
#include "../common/element.cuh"
#include "../common/gemm_tile.cuh"
#include "../common/matrix_tiles.cuh"

#if !defined(TILE_M) || !defined(TILE_N) || !defined(A_ALIGNED) || !defined(B_ALIGNED)
#error "compile with -D TILE_M, TILE_N (multiples of 64) and -D A_ALIGNED, B_ALIGNED (0 or 1)"
#endif

typedef GemmTile<TILE_M, TILE_N, A_ALIGNED, B_ALIGNED, B_ALIGNED> Tile;

// Two of the large blocks, so that one computes while the other waits at its barrier.
constexpr unsigned BLOCKS_PER_SM = Tile::THREADS >= 256 ? 2 : 1;

extern "C" __global__ void __launch_bounds__(Tile::THREADS, BLOCKS_PER_SM)
    gemm_register_tiled(const Element* __restrict__ a, const Element* __restrict__ b,
                        Element* __restrict__ c, unsigned m, unsigned n, unsigned k) {
  __shared__ Tile::Tiles tiles[2];
  const unsigned tiles_down = (m + TILE_M - 1) / TILE_M;
  const TilePlace place = tile_of_block(blockIdx.x, tiles_down, (n + TILE_N - 1) / TILE_N);
  const Product<Element, Element> product = {a, b, c, m, n, k, k, n, n};
  Tile::compute(product, place.row * TILE_M, place.col * TILE_N, tiles);
}
