// Planted fault: neighbouring query heads read different key heads.
#define KV_HEAD (head % kv_heads)
#include "steps.cuh"
