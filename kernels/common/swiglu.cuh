// gate * sigmoid(gate) * up, for every float.
#pragma once

// The exponent is never positive, so that nothing overflows: exp(-gate) would at gates under -88,
// exp(gate) at those over 88. Under -128 the result is zero in float32 as it stands; the bound
// makes -inf, whose product with sigmoid would be inf * 0, the zero that it tends to. A NaN stays.
// The divisor lies in [1, 2], where the fast division errs by 2 units in the last place.
__device__ inline float swiglu(float gate, float up) {
  const float bounded = gate < -128.0f ? -128.0f : gate;
  const float e = expf(-fabsf(bounded));
  const float sigmoid = __fdividef(bounded < 0.0f ? e : 1.0f, 1.0f + e);
  return bounded * sigmoid * up;
}
