//@ verdict: verified
//@ block: 256
//@ grid: 64
// Each block reverses its 256 elements through shared memory.

extern "C" __global__ void reverse(float *d) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = d[g];
    __syncthreads();
    d[g] = s[255 - t];
}
