// softmax.cached: the row stays in shared memory while it is reduced, so that DRAM sees x once and
// y once (2N), and each exponential is evaluated once. Rows that all start on 16 bytes move in
// 16-byte accesses, marked as streaming since nothing is read twice. What does not fit the
// `cached` elements that the launch has room for is read again from global memory. The cache is
// float32 whatever the tensors are: it holds exponentials, which must not be rounded twice.
#include "../common/element.cuh"
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

extern __shared__ float4 cache4[];

// float4s that a pack fills. Those of one pack lie `packs` apart, so that neighbouring threads
// always meet neighbouring addresses.
constexpr unsigned QUADS = PACK / 4;

__device__ void load_packs(const Element* in, unsigned packs, float& maximum) {
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < packs; i += BLOCK_THREADS) {
    const FloatPack wide = to_floats(load_pack_streaming(in + size_t(i) * PACK));
#pragma unroll
    for (unsigned quad = 0; quad < QUADS; ++quad) {
      const float* q = wide.values + 4 * quad;
      const float4 v = make_float4(q[0], q[1], q[2], q[3]);
      cache4[quad * packs + i] = v;
      maximum = fmaxf(maximum, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
  }
}

__device__ void exponentials_of_packs(unsigned packs, float shift, float& sum) {
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < packs; i += BLOCK_THREADS) {
#pragma unroll
    for (unsigned quad = 0; quad < QUADS; ++quad) {
      float4 v = cache4[quad * packs + i];
      v.x = expf(v.x - shift);
      v.y = expf(v.y - shift);
      v.z = expf(v.z - shift);
      v.w = expf(v.w - shift);
      cache4[quad * packs + i] = v;
      sum += (v.x + v.y) + (v.z + v.w);
    }
  }
}

__device__ void write_packs(Element* out, unsigned packs, float scale) {
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < packs; i += BLOCK_THREADS) {
    FloatPack wide;
#pragma unroll
    for (unsigned quad = 0; quad < QUADS; ++quad) {
      const float4 v = cache4[quad * packs + i];
      wide.values[4 * quad + 0] = v.x * scale;
      wide.values[4 * quad + 1] = v.y * scale;
      wide.values[4 * quad + 2] = v.z * scale;
      wide.values[4 * quad + 3] = v.w * scale;
    }
    store_pack_streaming(out + size_t(i) * PACK, from_floats(wide));
  }
}

// `cached` is the number of leading elements kept in shared memory, a multiple of PACK when cols
// is one.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_cached(const Element* __restrict__ x, Element* __restrict__ y, unsigned cols,
                   unsigned cached) {
  __shared__ float scratch[WARP_THREADS];
  float* cache = reinterpret_cast<float*>(cache4);
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;
  const bool by_pack = cols % PACK == 0;  // then every row starts on 16 bytes

  float maximum = negative_infinity();
  if (by_pack) {
    load_packs(in, cached / PACK, maximum);
  } else {
    for (unsigned i = threadIdx.x; i < cached; i += BLOCK_THREADS) {
      cache[i] = to_float(in[i]);
      maximum = fmaxf(maximum, cache[i]);
    }
  }
  for (unsigned i = cached + threadIdx.x; i < cols; i += BLOCK_THREADS)
    maximum = fmaxf(maximum, to_float(in[i]));
  const float shift = shift_of(block_warp_reduce(maximum, scratch, Maximum()));

  // Each thread meets only elements that it cached itself, so no barrier guards the cache.
  float sum = 0.0f;
  if (by_pack) {
    exponentials_of_packs(cached / PACK, shift, sum);
  } else {
    for (unsigned i = threadIdx.x; i < cached; i += BLOCK_THREADS)
      sum += cache[i] = expf(cache[i] - shift);
  }
  for (unsigned i = cached + threadIdx.x; i < cols; i += BLOCK_THREADS)
    sum += expf(to_float(in[i]) - shift);
  const float scale = scale_of(block_warp_reduce(sum, scratch, Sum()));

  if (by_pack) {
    write_packs(out, cached / PACK, scale);
  } else {
    for (unsigned i = threadIdx.x; i < cached; i += BLOCK_THREADS)
      out[i] = from_float(cache[i] * scale);
  }
  for (unsigned i = cached + threadIdx.x; i < cols; i += BLOCK_THREADS)
    out[i] = from_float(expf(to_float(in[i]) - shift) * scale);
}
