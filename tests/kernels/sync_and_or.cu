//@ verdict: verified
//@ block: 128
//@ grid: 64
//@ compiler: clang
// Voting barriers, reached by all threads.

extern "C" __global__ void sync_and_or(const int *x, int *out) {
    int g = blockIdx.x * 128 + threadIdx.x;
    int v = x[g];
    int r = __syncthreads_and(v > 0);
    r += 2 * __syncthreads_or(v > 100);
    out[g] = r;
}
