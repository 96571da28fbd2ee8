//@ verdict: verified
//@ block: 256
//@ grid: 64
//@ compiler: clang
// A pointer walks through the 2048 elements of a block.

extern "C" __global__ void pointer_bump(float *a) {
    float *p = a + blockIdx.x * 2048 + threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < 8; k++) {
        *p = *p + 1.0f;
        p += 256;
    }
}
