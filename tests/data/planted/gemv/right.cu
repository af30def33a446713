// Planted fault: none. The control: this kernel must pass.
#include "rows.cuh"

PLANTED { write_sum(part_of(a + size_t(blockIdx.x) * k, x, k), y); }
