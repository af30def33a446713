// softmax.cached: the row stays in shared memory while it is reduced, so that DRAM sees x once and
// y once (2N), and each exponential is evaluated once. Rows whose length is a multiple of 4 move in
// 16-byte accesses, marked as streaming since nothing is read twice. What does not fit the
// `cached` elements that the launch has room for is read again from global memory.
#include "../common/reduce.cuh"
#include "../common/softmax.cuh"

extern __shared__ float4 cache4[];

__device__ void load_row4(const float* in, float* cache, unsigned cached, float& maximum) {
  const float4* in4 = reinterpret_cast<const float4*>(in);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < cached / 4; i += BLOCK_THREADS) {
    const float4 v = __ldcs(in4 + i);
    reinterpret_cast<float4*>(cache)[i] = v;
    maximum = fmaxf(maximum, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
}

__device__ void exponentials4(float* cache, unsigned cached, float shift, float& sum) {
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < cached / 4; i += BLOCK_THREADS) {
    float4 v = reinterpret_cast<float4*>(cache)[i];
    v.x = expf(v.x - shift);
    v.y = expf(v.y - shift);
    v.z = expf(v.z - shift);
    v.w = expf(v.w - shift);
    reinterpret_cast<float4*>(cache)[i] = v;
    sum += (v.x + v.y) + (v.z + v.w);
  }
}

__device__ void write_row4(float* out, const float* cache, unsigned cached, float scale) {
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < cached / 4; i += BLOCK_THREADS) {
    float4 v = reinterpret_cast<const float4*>(cache)[i];
    v.x *= scale;
    v.y *= scale;
    v.z *= scale;
    v.w *= scale;
    __stcs(reinterpret_cast<float4*>(out) + i, v);
  }
}

// `cached` is the number of leading elements kept in shared memory, a multiple of 4 when cols is.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    softmax_cached(const float* __restrict__ x, float* __restrict__ y, unsigned cols,
                   unsigned cached) {
  __shared__ float scratch[WARP_THREADS];
  float* cache = reinterpret_cast<float*>(cache4);
  const float* in = x + size_t(blockIdx.x) * cols;
  float* out = y + size_t(blockIdx.x) * cols;
  const bool by_four = cols % 4 == 0;  // then every row starts on 16 bytes

  float maximum = negative_infinity();
  if (by_four) {
    load_row4(in, cache, cached, maximum);
  } else {
    for (unsigned i = threadIdx.x; i < cached; i += BLOCK_THREADS) {
      cache[i] = in[i];
      maximum = fmaxf(maximum, cache[i]);
    }
  }
  for (unsigned i = cached + threadIdx.x; i < cols; i += BLOCK_THREADS)
    maximum = fmaxf(maximum, in[i]);
  const float shift = shift_of(block_warp_reduce(maximum, scratch, Maximum()));

  // Each thread meets only elements that it cached itself, so no barrier guards the cache.
  float sum = 0.0f;
  if (by_four) {
    exponentials4(cache, cached, shift, sum);
  } else {
    for (unsigned i = threadIdx.x; i < cached; i += BLOCK_THREADS)
      sum += cache[i] = expf(cache[i] - shift);
  }
  for (unsigned i = cached + threadIdx.x; i < cols; i += BLOCK_THREADS) sum += expf(in[i] - shift);
  const float scale = scale_of(block_warp_reduce(sum, scratch, Sum()));

  if (by_four) {
    write_row4(out, cache, cached, scale);
  } else {
    for (unsigned i = threadIdx.x; i < cached; i += BLOCK_THREADS) out[i] = cache[i] * scale;
  }
  for (unsigned i = cached + threadIdx.x; i < cols; i += BLOCK_THREADS)
    out[i] = expf(in[i] - shift) * scale;
}
