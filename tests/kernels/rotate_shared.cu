//@ verdict: verified
//@ block: 128
//@ grid: 64
//@ compiler: clang
// Rotation within a shared row, in place.

extern "C" __global__ void rotate_shared(float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    s[t] = a[g];
    __syncthreads();
    float v = s[(t + 5) % 128];
    __syncthreads();
    s[t] = v * 0.5f;
    __syncthreads();
    a[g] = s[(t + 1) % 128];
}
