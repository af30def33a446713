// Planted fault: neighbouring query heads take different key heads.
#define KV_HEAD (head % kv_heads)
#include "steps.cuh"
