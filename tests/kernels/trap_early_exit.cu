//@ verdict: divergence
//@ block: 64
//@ grid: 8
// One thread leaves before the barrier that the others wait at.

extern "C" __global__ void early_exit(int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    if (t == 63) return;
    s[t] = a[g];
    __syncthreads();  // DIVERGENCE
    a[g] = s[t] + 1;
}
