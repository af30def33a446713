// Planted fault: queries and keys are left as they are.
#define TURNS 0
#include "steps.cuh"
