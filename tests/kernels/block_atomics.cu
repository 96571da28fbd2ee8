//@ verdict: verified
//@ block: 128
//@ grid: 64
// Block-scope atomics on a cell of the block.

extern "C" __global__ void block_atomics(const int *x, int *sum) {
    int v = x[blockIdx.x * 128 + threadIdx.x];
    atomicAdd_block(&sum[blockIdx.x], v);
}
