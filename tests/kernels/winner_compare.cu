//@ verdict: verified
//@ block: 64
//@ grid: 8
// Many may find one; the first to swap tells where.
extern "C" __global__ void winner_compare(const int *in, int *taken, int *where, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 100 && atomicCAS(taken, 0, 1) == 0) *where = i;
}
