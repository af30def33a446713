// Planted fault: none. The control: this kernel must pass.
#include "steps.cuh"
