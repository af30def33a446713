// GROUP neighbouring elements in one access of up to 16 bytes. An address must lie on the size of a
// group: where rows are a multiple of GROUP long, every row starts on one.
#pragma once
#include "element.cuh"

#ifndef GROUP
#error "compile with -D GROUP=<elements an access: a power of two, of at most 16 bytes>"
#endif

// The type whose single access moves so many bytes.
template <unsigned bytes>
struct Raw;
template <>
struct Raw<2> {
  typedef unsigned short Type;
};
template <>
struct Raw<4> {
  typedef unsigned Type;
};
template <>
struct Raw<8> {
  typedef uint2 Type;
};
template <>
struct Raw<16> {
  typedef uint4 Type;
};

typedef Raw<GROUP * sizeof(Element)>::Type RawGroup;

struct alignas(sizeof(RawGroup)) Group {
  Element values[GROUP];
};

// The elements of a group in float32.
struct FloatGroup {
  float values[GROUP];
};

__device__ inline FloatGroup to_floats(const Group& group) {
  FloatGroup floats;
#pragma unroll
  for (unsigned k = 0; k < GROUP; ++k) floats.values[k] = to_float(group.values[k]);
  return floats;
}

__device__ inline Group load_group(const Element* address) {
  const RawGroup raw = *reinterpret_cast<const RawGroup*>(address);
  return *reinterpret_cast<const Group*>(&raw);
}

// Keeps out of L1 what is read once, and leaves it in L2 for a later launch.
__device__ inline Group load_group_once(const Element* address) {
  const RawGroup raw = __ldcg(reinterpret_cast<const RawGroup*>(address));
  return *reinterpret_cast<const Group*>(&raw);
}

// Marks what is written as the first to leave L2.
__device__ inline void store_group_streaming(Element* address, const FloatGroup& floats) {
  Group group;
#pragma unroll
  for (unsigned k = 0; k < GROUP; ++k) group.values[k] = from_float(floats.values[k]);
  __stcs(reinterpret_cast<RawGroup*>(address), *reinterpret_cast<const RawGroup*>(&group));
}
