//@ verdict: divergence
//@ block: 128
//@ grid: 64
//@ compiler: clang
// The thread id takes part in the decision.

extern "C" __global__ void block_branch(float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    if ((blockIdx.x + t) & 1) {
        s[t] = a[g];
        __syncthreads();  // DIVERGENCE
        a[g] = s[t] * s[t];
    }
}
