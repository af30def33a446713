// The instructions of tensor-core kernels that have no C++ form: matrix fragments from shared
// memory, the multiply-add on them, and copies into shared memory that run beside the arithmetic.
// For 2-byte elements, from compute capability 8.0 on.
//
// In a fragment lane L has row L / 4 and columns 2 (L % 4) and 2 (L % 4) + 1 of each 8 x 8 part.
#pragma once
#include "element.cuh"

static_assert(sizeof(Element) == 2, "compile with -D ELEMENT_FLOAT16 or ELEMENT_BFLOAT16");

// 16 x 16, the left factor: parts (rows 0-7, columns 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15),
// two elements a register.
struct LeftFragment {
  unsigned parts[4];
};

// 16 x 8, the right factor: rows 0-7 and 8-15, held by columns: lane L has column L / 4.
struct RightFragment {
  unsigned parts[2];
};

// 16 x 8 in float32: two values of row L / 4, then two of row L / 4 + 8.
struct SumFragment {
  float values[4];
};

__device__ inline unsigned pack_pair(float low, float high) {
  struct alignas(4) Pair {
    Element low, high;
  };
  const Pair pair = {from_float(low), from_float(high)};
  return *reinterpret_cast<const unsigned*>(&pair);
}

// sums += left x right
__device__ inline void multiply_add(SumFragment& sums, const LeftFragment& left,
                                    const RightFragment& right) {
#if defined(ELEMENT_FLOAT16)
#define MMA_TYPES "f32.f16.f16.f32"
#else
#define MMA_TYPES "f32.bf16.bf16.f32"
#endif
  asm("mma.sync.aligned.m16n8k16.row.col." MMA_TYPES
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums.values[0]), "+f"(sums.values[1]), "+f"(sums.values[2]), "+f"(sums.values[3])
      : "r"(left.parts[0]), "r"(left.parts[1]), "r"(left.parts[2]), "r"(left.parts[3]),
        "r"(right.parts[0]), "r"(right.parts[1]));
#undef MMA_TYPES
}

__device__ inline unsigned shared_address(const void* pointer) {
  return unsigned(__cvta_generic_to_shared(pointer));
}

// Four 8 x 8 matrices: lanes 8 i to 8 i + 7 give the addresses of matrix i's rows, 16 bytes each,
// and every lane gets its two elements of each matrix; transposed, of each matrix's transpose.
__device__ inline void load_matrices(unsigned (&parts)[4], const Element* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ inline void load_matrices_transposed(unsigned (&parts)[4], const Element* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
               : "r"(shared_address(row))
               : "memory");
}

// 16 bytes from global to shared memory, both on 16 bytes; zeros, and nothing read, if not
// `present`.
__device__ inline void copy_async(Element* to, const Element* from, bool present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(present ? 16 : 0)
               : "memory");
}

// Closes a group of copies; waits until at most `left` groups are under way. What others copied is
// there after a barrier.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int left>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}
