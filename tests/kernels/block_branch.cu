//@ verdict: verified
//@ block: 128
//@ grid: 64
//@ compiler: clang
// The block id decides: a branch uniform within each block, with a barrier.

extern "C" __global__ void block_branch(float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    if (blockIdx.x & 1) {
        s[t] = a[g];
        __syncthreads();
        a[g] = s[127 - t];
    }
}
