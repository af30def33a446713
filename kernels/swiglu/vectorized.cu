// swiglu.vectorized: 16-byte accesses, PACKS_PER_THREAD of each input asked for before the first is
// used, a grid-stride loop. The tensors are taken as one flat run of elements, so that rows of any
// length move in whole packs; the few elements behind the last pack are written one by one.
#include "../common/element.cuh"
#include "../common/swiglu.cuh"

constexpr size_t CHUNK_PACKS = size_t(BLOCK_THREADS) * PACKS_PER_THREAD;

__device__ inline Pack swiglu_pack(const Pack& gate, const Pack& up) {
  const FloatPack g = to_floats(gate), u = to_floats(up);
  FloatPack result;
#pragma unroll
  for (unsigned k = 0; k < PACK; ++k) result.values[k] = swiglu(g.values[k], u.values[k]);
  return from_floats(result);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    swiglu_vectorized(const Element* __restrict__ gate, const Element* __restrict__ up,
                      Element* __restrict__ y, unsigned long long count) {
  const size_t packs = count / PACK;
  for (size_t chunk = size_t(blockIdx.x) * CHUNK_PACKS; chunk < packs;
       chunk += size_t(gridDim.x) * CHUNK_PACKS) {
    Pack gates[PACKS_PER_THREAD], ups[PACKS_PER_THREAD];
#pragma unroll
    for (unsigned n = 0; n < PACKS_PER_THREAD; ++n) {
      const size_t place = chunk + n * BLOCK_THREADS + threadIdx.x;
      if (place < packs) {
        gates[n] = load_pack_once(gate + place * PACK);
        ups[n] = load_pack_once(up + place * PACK);
      }
    }
#pragma unroll
    for (unsigned n = 0; n < PACKS_PER_THREAD; ++n) {
      const size_t place = chunk + n * BLOCK_THREADS + threadIdx.x;
      if (place < packs) store_pack_streaming(y + place * PACK, swiglu_pack(gates[n], ups[n]));
    }
  }

  const size_t rest = packs * PACK + threadIdx.x;
  if (blockIdx.x == 0 && rest < count)
    y[rest] = from_float(swiglu(to_float(gate[rest]), to_float(up[rest])));
}
