// Planted fault: the gate is taken for up, and up for the gate.
#include "elements.cuh"

PLANTED {
  FOR_EACH(i, count) {
    const float g = to_float(gate[i]), u = to_float(up[i]);
    y[i] = from_float(swiglu(u, g));
  }
}
