// Planted fault: the newest token is not read back.
#define READ_TOKENS (tokens - 1)
#include "steps.cuh"
