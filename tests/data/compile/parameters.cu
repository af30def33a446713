// Parameters of several sizes and alignments, and static shared memory of 256 bytes.
struct Small {
  double value;
  char tail[5];
};

struct alignas(16) Vector {
  float lane[4];
};

extern "C" __global__ void mixed(const float* in, float* out, int n, double scale, short shift,
                                 Vector vector, bool flag, Small small) {
  __shared__ float stage[64];
  const int i = threadIdx.x;
  stage[i % 64] = in[i];
  __syncthreads();
  out[i] = stage[63 - i % 64] * n + scale + shift + vector.lane[1] + flag + small.value;
}

extern "C" __global__ void none() {}

template <typename T>
__global__ void fill(T* out, T value) {
  out[threadIdx.x] = value;
}

template __global__ void fill<float>(float*, float);
