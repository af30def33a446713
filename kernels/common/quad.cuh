// Four neighbouring elements of a matrix row at once, in float32, whatever they are stored as.
#pragma once
#include "element.cuh"

// Element or float: intermediates stay float32 whatever the tensors are.
template <typename T>
__device__ inline float widened(T value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else {
    return to_float(value);
  }
}

template <typename T>
__device__ inline T narrowed(float value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else {
    return from_float(value);
  }
}

template <typename T>
struct alignas(4 * sizeof(T)) Quad {
  T values[4];
};

// Elements `column` to `column` + 3 of a row of `columns`; zeros past its end. `by_quad`: every row
// starts on four elements and `columns` is a multiple of four, so that one access does.
template <typename T>
__device__ inline float4 load_quad(const T* row, unsigned column, unsigned columns, bool by_quad) {
  float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  if (by_quad) {
    if (column < columns) {
      const Quad<T> quad = *reinterpret_cast<const Quad<T>*>(row + column);
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) v[i] = widened(quad.values[i]);
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      if (column + i < columns) v[i] = widened(row[column + i]);
  }
  return make_float4(v[0], v[1], v[2], v[3]);
}

template <typename T>
__device__ inline void store_quad(T* row, unsigned column, unsigned columns, bool by_quad,
                                  float4 value) {
  const float v[4] = {value.x, value.y, value.z, value.w};
  if (by_quad) {
    if (column < columns) {
      Quad<T> quad;
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) quad.values[i] = narrowed<T>(v[i]);
      *reinterpret_cast<Quad<T>*>(row + column) = quad;
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      if (column + i < columns) row[column + i] = narrowed<T>(v[i]);
  }
}

__device__ inline float4 scaled(float4 v, float factor) {
  return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}

// sum + a . b
__device__ inline float dot(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

// sum + factor * v
__device__ inline float4 add_scaled(float4 sum, float factor, float4 v) {
  return make_float4(fmaf(factor, v.x, sum.x), fmaf(factor, v.y, sum.y), fmaf(factor, v.z, sum.z),
                     fmaf(factor, v.w, sum.w));
}
