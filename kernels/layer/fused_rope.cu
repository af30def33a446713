// layer.fused_rope: the first product turns queries and keys in registers before it stores them, so
// that the launch for rope and its reading and writing of both disappear.
#include "../common/layer.cuh"

// Four neighbouring elements are two pairs, since heads begin at even places.
struct Turn {
  unsigned turned;  // columns that belong to queries and keys
  float step;

  __device__ float4 operator()(unsigned position, unsigned column, float4 quad) const {
    if (column < turned) {
      const float2 low = rotated(quad.x, quad.y, rotation_at(position, column % DIM / 2, step));
      quad.x = low.x, quad.y = low.y;
    }
    const unsigned next = column + 2;
    if (next < turned) {
      const float2 high = rotated(quad.z, quad.w, rotation_at(position, next % DIM / 2, step));
      quad.z = high.x, quad.w = high.y;
    }
    return quad;
  }
};

extern "C" __global__ void __launch_bounds__(TileIn::THREADS)
    layer_project_qkv(const Element* __restrict__ x, const Element* __restrict__ w_qkv,
                      float* __restrict__ qkv, unsigned seq, unsigned width, unsigned hidden,
                      unsigned turned, float step) {
  project<TileIn>(x, w_qkv, qkv, seq, width, hidden, Turn{turned, step});
}

LAYER_ATTENTION(layer_attention)

LAYER_PROJECT_OUT(layer_project_out)
