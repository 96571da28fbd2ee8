//@ verdict: divergence
//@ block: 64
//@ grid: 8
// Two threads may see two values in one volatile cell that another block changes: the
// branch is not uniform.

extern "C" __global__ void volatile_differs(volatile int *flag, int *out) {
    int g = blockIdx.x * 64 + threadIdx.x;
    if (g == 0) *flag = 1;
    if (*flag == 1) __syncthreads();  // DIVERGENCE
    out[g] = g;
}
