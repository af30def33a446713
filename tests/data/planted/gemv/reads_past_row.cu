// Planted fault: rows are read up to a whole pack of four, into the next row and past x.
#include "rows.cuh"

PLANTED { write_sum(part_of(a + size_t(blockIdx.x) * k, x, (k + 3) / 4 * 4), y); }
