// The storage type of tensors, chosen by -D ELEMENT_FLOAT32, ELEMENT_FLOAT16 or ELEMENT_BFLOAT16.
// All arithmetic is in float32; only loads and stores know the storage type.
#pragma once

#if defined(ELEMENT_FLOAT32)
typedef float Element;
__device__ inline float to_float(Element value) { return value; }
__device__ inline Element from_float(float value) { return value; }
#elif defined(ELEMENT_FLOAT16)
#include <cuda_fp16.h>
typedef __half Element;
__device__ inline float to_float(Element value) { return __half2float(value); }
__device__ inline Element from_float(float value) { return __float2half_rn(value); }
#elif defined(ELEMENT_BFLOAT16)
#include <cuda_bf16.h>
typedef __nv_bfloat16 Element;
__device__ inline float to_float(Element value) { return __bfloat162float(value); }
__device__ inline Element from_float(float value) { return __float2bfloat16_rn(value); }
#else
#error "compile with -D ELEMENT_FLOAT32, ELEMENT_FLOAT16 or ELEMENT_BFLOAT16"
#endif

// As many elements as one 16-byte access moves.
constexpr unsigned PACK = 16 / sizeof(Element);

struct alignas(16) Pack {
  Element values[PACK];
};

// The elements of a pack in float32.
struct FloatPack {
  float values[PACK];
};

__device__ inline FloatPack to_floats(const Pack& pack) {
  FloatPack floats;
#pragma unroll
  for (unsigned k = 0; k < PACK; ++k) floats.values[k] = to_float(pack.values[k]);
  return floats;
}

__device__ inline Pack from_floats(const FloatPack& floats) {
  Pack pack;
#pragma unroll
  for (unsigned k = 0; k < PACK; ++k) pack.values[k] = from_float(floats.values[k]);
  return pack;
}

// 16-byte accesses; `address` must lie on 16 bytes. The streaming forms mark data that is not read
// again, so that it leaves the caches first. The once-read form keeps data out of L1, where it
// would drive out what others reuse, and leaves it in L2 for a later launch.
__device__ inline Pack load_pack(const Element* address) {
  const uint4 raw = *reinterpret_cast<const uint4*>(address);
  return *reinterpret_cast<const Pack*>(&raw);
}

__device__ inline Pack load_pack_streaming(const Element* address) {
  const uint4 raw = __ldcs(reinterpret_cast<const uint4*>(address));
  return *reinterpret_cast<const Pack*>(&raw);
}

__device__ inline Pack load_pack_once(const Element* address) {
  const uint4 raw = __ldcg(reinterpret_cast<const uint4*>(address));
  return *reinterpret_cast<const Pack*>(&raw);
}

__device__ inline void store_pack(Element* address, const Pack& pack) {
  *reinterpret_cast<uint4*>(address) = *reinterpret_cast<const uint4*>(&pack);
}

__device__ inline void store_pack_streaming(Element* address, const Pack& pack) {
  __stcs(reinterpret_cast<uint4*>(address), *reinterpret_cast<const uint4*>(&pack));
}
