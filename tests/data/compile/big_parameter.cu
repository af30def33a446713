// A parameter beyond 4 KiB, which compute capability 7.0 and later take.
struct Big {
  char bytes[20000];
};

extern "C" __global__ void big(float* out, Big data, short at) { out[0] = data.bytes[at]; }
