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

// Writes down the device's nanosecond counter; between the launches of a graph it also keeps each
// from meeting the tail of the one before.
extern "C" __global__ void stamp(unsigned long long* slot) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *slot = now;
}

// `count` consecutive readings of the counter, from which its tick shows.
extern "C" __global__ void read_counter(unsigned long long* slots, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    slots[i] = now;
  }
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
