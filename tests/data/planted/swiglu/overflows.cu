// Planted fault: exp(gate) overflows at large gates, and inf / inf is NaN.
#include "elements.cuh"

PLANTED {
  FOR_EACH(i, count) {
    const float g = to_float(gate[i]), u = to_float(up[i]);
    y[i] = from_float(g * (expf(g) / (1.0f + expf(g))) * u);
  }
}
