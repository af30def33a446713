// Kernels that timing needs beside the one that is timed.

// Nothing at all: the shortest kernel there is.
extern "C" __global__ void empty_kernel() {}

// One thread that waits `nanoseconds`, while the host fills the queue behind it.
extern "C" __global__ void hold(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

// Reads `count` 16-byte words, so that L2 holds them and nothing else, and writes nothing: the sum
// is compared with a value that only the host's choice of contents could produce.
extern "C" __global__ void evict(const uint4* __restrict__ words, unsigned long long count,
                                 unsigned* sink) {
  unsigned sum = 0;
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const uint4 word = words[i];
    sum += word.x ^ word.y ^ word.z ^ word.w;
  }
  if (sum == 0xffffffffu) *sink = sum;
}
