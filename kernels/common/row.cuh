// A row that a block reads once: its leading part stays in registers while it is reduced. What
// does not fit (ROW_ACCESSES accesses of ROW_WIDTH elements a thread) is read again in every pass.
// ROW_WIDTH is PACK where every row starts on 16 bytes, and 1 elsewhere.
#pragma once
#include "element.cuh"
#include "reduce.cuh"

#if !defined(ROW_WIDTH) || !defined(ROW_ACCESSES)
#error "compile with -D ROW_WIDTH=<elements an access> -D ROW_ACCESSES=<accesses kept a thread>"
#endif

// The elements of one access in float32.
struct RowPart {
  float values[ROW_WIDTH];
};

struct Row {
  RowPart parts[ROW_ACCESSES];
};

template <unsigned width>
struct RowAccess {  // 16 bytes at once
  static_assert(width == PACK, "an access is of one element or of 16 bytes");
  static __device__ RowPart floats(const Pack& pack) {
    const FloatPack wide = to_floats(pack);
    RowPart part;
#pragma unroll
    for (unsigned k = 0; k < width; ++k) part.values[k] = wide.values[k];
    return part;
  }
  static __device__ RowPart load(const Element* address) { return floats(load_pack(address)); }
  static __device__ RowPart load_once(const Element* address) {
    return floats(load_pack_once(address));
  }
  static __device__ void store(Element* address, const RowPart& part) {
    FloatPack wide;
#pragma unroll
    for (unsigned k = 0; k < width; ++k) wide.values[k] = part.values[k];
    store_pack_streaming(address, from_floats(wide));
  }
};

template <>
struct RowAccess<1> {
  static __device__ RowPart load(const Element* address) { return {to_float(*address)}; }
  static __device__ RowPart load_once(const Element* address) { return load(address); }
  static __device__ void store(Element* address, const RowPart& part) {
    *address = from_float(part.values[0]);
  }
};

typedef RowAccess<ROW_WIDTH> Access;

// Where a thread's access number `access` starts; neighbouring threads take neighbouring places.
__device__ inline unsigned row_place(unsigned access) {
  return (access * BLOCK_THREADS + threadIdx.x) * ROW_WIDTH;
}

// All loads are asked for before any is used. Places past the row's end are left as they are:
// for_each_part never visits them.
__device__ inline void keep_row(Row& row, const Element* in, unsigned cols) {
#pragma unroll
  for (unsigned access = 0; access < ROW_ACCESSES; ++access) {
    const unsigned place = row_place(access);
    if (place < cols) row.parts[access] = Access::load_once(in + place);
  }
}

// visit(part, place) for every part of the row that is this thread's: `part` holds the ROW_WIDTH
// elements from `place` on.
template <typename Visit>
__device__ inline void for_each_part(const Row& row, const Element* in, unsigned cols,
                                     Visit visit) {
#pragma unroll
  for (unsigned access = 0; access < ROW_ACCESSES; ++access) {
    const unsigned place = row_place(access);
    if (place < cols) visit(row.parts[access], place);
  }
  for (unsigned place = row_place(ROW_ACCESSES); place < cols; place += BLOCK_THREADS * ROW_WIDTH)
    visit(Access::load_once(in + place), place);
}
