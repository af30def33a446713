// Reductions within a block of BLOCK_THREADS threads (a power of two): a shared-memory tree, and
// warp shuffles with one cross-warp step. Every function returns the result to all threads.
#pragma once

#ifndef BLOCK_THREADS
#error "compile with -D BLOCK_THREADS=<threads per block, a power of two>"
#endif

constexpr unsigned FULL_WARP = 0xffffffffu;
constexpr unsigned WARP_THREADS = 32;

struct Maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Halves the number of active threads at each step; log2(BLOCK_THREADS) barriers. `scratch` holds
// BLOCK_THREADS values and may be used again at once.
template <typename T, typename Merge>
__device__ T block_tree_reduce(T value, T* scratch, Merge merge) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (unsigned stride = BLOCK_THREADS / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      scratch[threadIdx.x] = merge(scratch[threadIdx.x], scratch[threadIdx.x + stride]);
    }
    __syncthreads();
  }
  T result = scratch[0];
  __syncthreads();
  return result;
}

// What another lane of a full warp holds. Types of several values have an overload of their own
// beside their definition.
__device__ inline float shuffle_xor(float value, unsigned offset) {
  return __shfl_xor_sync(FULL_WARP, value, offset);
}

// Butterfly over the 32 lanes of a full warp.
template <typename T, typename Merge>
__device__ T warp_reduce(T value, Merge merge) {
#pragma unroll
  for (unsigned offset = WARP_THREADS / 2; offset > 0; offset /= 2) {
    value = merge(value, shuffle_xor(value, offset));
  }
  return value;
}

// Shuffles within each warp, then every thread merges the warps' results from shared memory.
// `scratch` holds one value per warp; two barriers.
template <typename T, typename Merge>
__device__ T block_warp_reduce(T value, T* scratch, Merge merge) {
  constexpr unsigned warps = (BLOCK_THREADS + WARP_THREADS - 1) / WARP_THREADS;
  value = warp_reduce(value, merge);
  if (threadIdx.x % WARP_THREADS == 0) scratch[threadIdx.x / WARP_THREADS] = value;
  __syncthreads();
  T result = scratch[0];
#pragma unroll
  for (unsigned warp = 1; warp < warps; ++warp) result = merge(result, scratch[warp]);
  __syncthreads();
  return result;
}
