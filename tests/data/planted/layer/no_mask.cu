// Planted fault: every token sees all others, whatever the size says.
#define SEES(row, key) true
#include "steps.cuh"
