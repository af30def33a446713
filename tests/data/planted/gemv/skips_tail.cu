// Planted fault: the elements behind a row's last pack of four are left out.
#include "rows.cuh"

PLANTED { write_sum(part_of(a + size_t(blockIdx.x) * k, x, k / 4 * 4), y); }
