//@ verdict: verified
//@ block: 256
//@ grid: 64
//@ compiler: clang
// Four elements a thread, one block width apart.

extern "C" __global__ void strided(const float *in, float *out) {
    int base = blockIdx.x * 1024 + threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < 4; k++) {
        int i = base + k * 256;
        out[i] = in[i] + 1.0f;
    }
}
