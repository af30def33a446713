// Mean and variance of a part of a row in one pass: Welford's recurrence, and Chan's merge of two
// parts. Deviations from the running mean are summed, never squares of the values themselves, so
// that a mean far above the deviation costs no digits of the variance.
#pragma once
#include "reduce.cuh"

// m2 is the sum of squared deviations from the mean. The count is a float since it only divides:
// a thread's own count stays below 2^24, up to which every whole number is a float.
struct Moments {
  float mean;
  float m2;
  float count;
};

__device__ inline Moments empty_moments() { return {0.0f, 0.0f, 0.0f}; }

// Takes in one more element.
__device__ inline Moments absorb(Moments part, float x) {
  const float count = part.count + 1.0f;
  const float delta = x - part.mean;
  const float mean = part.mean + delta / count;
  return {mean, part.m2 + delta * (x - mean), count};
}

// An empty part leaves the other as it is, and two of them make a third: without the test that is
// 0 / 0, and NaN reaches the whole row.
struct MergeMoments {
  __device__ Moments operator()(Moments a, Moments b) const {
    if (b.count == 0.0f) return a;
    const float count = a.count + b.count;
    const float delta = b.mean - a.mean;
    const float share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
  }
};

__device__ inline Moments shuffle_xor(Moments part, unsigned offset) {
  return {shuffle_xor(part.mean, offset), shuffle_xor(part.m2, offset),
          shuffle_xor(part.count, offset)};
}
