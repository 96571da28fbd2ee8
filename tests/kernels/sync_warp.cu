//@ verdict: verified
//@ block: 64
//@ grid: 64
// Exchange across warps, ordered by a block barrier.

extern "C" __global__ void sync_warp(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    s[t] = a[g];
    __syncthreads();
    a[g] = s[t ^ 32];
}
