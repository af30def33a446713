// Planted fault: scores are not divided by the root of the head's width.
#define SCALE 1.0f
#include "steps.cuh"
