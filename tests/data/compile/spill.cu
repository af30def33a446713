// Eighty live values in a block of 1024 threads, which leaves each thread 64 registers.
__device__ __forceinline__ void churn(float (&value)[80], float* data, int n) {
  for (int i = 0; i < 80; ++i) {
    value[i] = data[i * n + threadIdx.x];
  }
  for (int round = 0; round < n; ++round) {
    for (int i = 0; i < 80; ++i) {
      value[i] = value[i] * value[(i + 1) % 80] + round;
    }
  }
}

extern "C" __global__ void __launch_bounds__(1024) spilling(float* data, int n) {
  float value[80];
  churn(value, data, n);
  for (int i = 0; i < 80; ++i) {
    data[i * n + threadIdx.x] = value[i];
  }
}

__device__ __noinline__ float called(float* data, int n) {
  float value[80];
  churn(value, data, n);
  float sum = 0;
  for (int i = 0; i < 80; ++i) {
    sum += value[i] * data[i];
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(1024) spilling_in_a_call(float* data, int n) {
  data[n] = called(data, n);
}

extern "C" __global__ void unbounded(float* data, int n) {
  float value[80];
  churn(value, data, n);
  for (int i = 0; i < 80; ++i) {
    data[i * n + threadIdx.x] = value[i];
  }
}

extern "C" __global__ void frugal(float* data) { data[threadIdx.x] += 1.0f; }
