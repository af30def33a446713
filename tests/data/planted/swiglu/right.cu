// Planted fault: none. The control: this kernel must pass.
#include "elements.cuh"

PLANTED {
  FOR_EACH(i, count) {
    const float g = to_float(gate[i]), u = to_float(up[i]);
    y[i] = from_float(swiglu(g, u));
  }
}
