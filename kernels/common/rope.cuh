// Rotary position embedding: the angle of a pair at a position, and the rotation of a pair.
#pragma once

#if !defined(BLOCK_THREADS) || !defined(DIM)
#error "compile with -D BLOCK_THREADS=<threads per block> -D DIM=<elements of a head>"
#endif

constexpr unsigned HALF = DIM / 2;

struct Rotation {
  float cosine, sine;
};

// By the angle position * base^(-2 pair / dim), as position * 2^(pair * step) with step =
// -2 log2(base) / dim. All of it is in float32: exp2f errs by up to 2 units in the last place, so
// the angle by some 1e-7 of itself, which at long sequences is what limits the result. sincosf,
// which reduces angles of any size without loss and evaluates polynomials, adds next to nothing.
__device__ inline Rotation rotation_at(unsigned position, unsigned pair, float step) {
  Rotation by;
  sincosf(float(position) * exp2f(float(pair) * step), &by.sine, &by.cosine);
  return by;
}

__device__ inline float2 rotated(float first, float second, Rotation by) {
  return make_float2(first * by.cosine - second * by.sine, first * by.sine + second * by.cosine);
}

// Blocks keep to one token: `token_blocks` of them share its places, one for each thread.
__device__ inline unsigned block_position(unsigned token_blocks) {
  return blockIdx.x / token_blocks;
}

__device__ inline unsigned place_in_token(unsigned token_blocks) {
  return blockIdx.x % token_blocks * BLOCK_THREADS + threadIdx.x;
}
