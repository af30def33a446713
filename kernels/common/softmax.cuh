// What all softmax variants agree on: the value of a row that holds only -inf (zeros), and the
// merge of partial results of the online algorithm.
#pragma once

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

// Takes in one more element: the sum so far is rescaled only when the maximum grows. x - x is 0,
// and NaN for +inf, which the whole row then becomes, as it does in the variants of three passes.
__device__ inline MaxSum absorb(MaxSum part, float x) {
  if (x > part.maximum) {
    return {x, part.sum * expf(part.maximum - x) + ((x - x) + 1.0f)};
  }
  return {part.maximum, part.sum + expf(x - shift_of(part.maximum))};
}

struct MergeMaxSum {
  __device__ MaxSum operator()(MaxSum a, MaxSum b) const {
    float maximum = fmaxf(a.maximum, b.maximum);
    float shift = shift_of(maximum);  // both parts empty: exp(-inf - 0) = 0, never exp(NaN)
    return {maximum, a.sum * expf(a.maximum - shift) + b.sum * expf(b.maximum - shift)};
  }
};
