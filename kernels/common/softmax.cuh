// What all softmax variants agree on: the value of a row that holds only -inf (zeros), and the
// merge of partial results of the online algorithm.
#pragma once
#include "element.cuh"

__device__ inline float negative_infinity() { return __int_as_float(0xff800000); }

// What is subtracted before exponentials. A row maximum of -inf is replaced by 0, so that
// x - shift is -inf and not NaN; a NaN in the row still reaches its sum.
__device__ inline float shift_of(float row_max) {
  return row_max == negative_infinity() ? 0.0f : row_max;
}

// 1 / sum, and 0 for an empty sum (all -inf): such a row becomes zeros.
__device__ inline float scale_of(float row_sum) { return row_sum == 0.0f ? 0.0f : 1.0f / row_sum; }

// Running maximum of a part of a row, and the sum of exp(x - maximum) over that part.
struct MaxSum {
  float maximum;
  float sum;
};

__device__ inline MaxSum empty_max_sum() { return {negative_infinity(), 0.0f}; }

// Elements that a thread loads before it uses the first: their exponentials do not wait for each
// other, and the sum is rescaled once for all of them.
constexpr unsigned GROUP = 8;

// (maximum, sum) over the elements first, first + stride, first + 2 stride ... of a row.
__device__ inline MaxSum online_part(const Element* row, unsigned cols, unsigned first,
                                     unsigned stride) {
  MaxSum part = empty_max_sum();
  for (size_t start = first; start < cols; start += size_t(GROUP) * stride) {
    float values[GROUP];
    float maximum = part.maximum;
#pragma unroll
    for (unsigned i = 0; i < GROUP; ++i) {
      const size_t index = start + size_t(i) * stride;
      values[i] = index < cols ? to_float(row[index]) : negative_infinity();
      maximum = fmaxf(maximum, values[i]);
    }
    const float shift = shift_of(maximum);
    float sum = part.sum * expf(part.maximum - shift);
#pragma unroll
    for (unsigned i = 0; i < GROUP; ++i) sum += expf(values[i] - shift);
    part = {maximum, sum};
  }
  return part;
}

struct MergeMaxSum {
  __device__ MaxSum operator()(MaxSum a, MaxSum b) const {
    float maximum = fmaxf(a.maximum, b.maximum);
    float shift = shift_of(maximum);  // both parts empty: exp(-inf - 0) = 0, never exp(NaN)
    return {maximum, a.sum * expf(a.maximum - shift) + b.sum * expf(b.maximum - shift)};
  }
};
