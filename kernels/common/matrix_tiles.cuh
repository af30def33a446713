// How blocks share out the tiles of a matrix product's result.
#pragma once

constexpr unsigned TILE_ROWS_PER_GROUP = 8;

struct TilePlace {
  unsigned row;
  unsigned col;
};

// Which tile is a block's. Blocks that run at the same time take tiles of a few rows and columns,
// not of one long row, so that their inputs are found in L2: down a group of tile rows first, then
// to the next column.
__device__ inline TilePlace tile_of_block(unsigned block, unsigned tiles_down,
                                          unsigned tiles_across) {
  const unsigned per_group = TILE_ROWS_PER_GROUP * tiles_across;
  const unsigned first_row = block / per_group * TILE_ROWS_PER_GROUP;
  const unsigned inside = block % per_group;
  const unsigned rows_left = tiles_down - first_row;
  const unsigned height = rows_left < TILE_ROWS_PER_GROUP ? rows_left : TILE_ROWS_PER_GROUP;
  return {first_row + inside % height, inside / height};
}
