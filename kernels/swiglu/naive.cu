// swiglu.naive: one element per thread, a grid over all of them.
#include "../common/element.cuh"
#include "../common/swiglu.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    swiglu_naive(const Element* __restrict__ gate, const Element* __restrict__ up,
                 Element* __restrict__ y, unsigned long long count) {
  const size_t i = size_t(blockIdx.x) * BLOCK_THREADS + threadIdx.x;
  if (i < count) y[i] = from_float(swiglu(to_float(gate[i]), to_float(up[i])));
}
