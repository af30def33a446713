// Planted fault: new tokens go to the start of the cache.
#define FIRST_NEW 0
#include "steps.cuh"
