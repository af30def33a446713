// Planted fault: rope pairs elements half a head apart, not neighbours.
#define PARTNERS pair, pair + HALF
#include "steps.cuh"
