// Planted fault: sigmoid(gate) * up, without the gate itself.
#include "elements.cuh"

PLANTED {
  FOR_EACH(i, count) {
    const float g = to_float(gate[i]), u = to_float(up[i]);
    y[i] = from_float(u / (1.0f + expf(-g)));
  }
}
