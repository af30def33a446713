// Planted fault: A is taken as column-major.
#include "rows.cuh"

PLANTED { write_sum(part_of(a + blockIdx.x, x, k, gridDim.x), y); }
