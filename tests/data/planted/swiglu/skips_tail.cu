// Planted fault: elements behind the last whole pack are not written.
#include "elements.cuh"

PLANTED {
  FOR_EACH(i, count / PACK * PACK) {
    const float g = to_float(gate[i]), u = to_float(up[i]);
    y[i] = from_float(swiglu(g, u));
  }
}
