// Planted fault: heads are taken to lie as many tokens apart as there are now, not max_seq.
#define HEAD_TOKENS tokens
#include "steps.cuh"
