//@ verdict: race
//@ block: 128
//@ grid: 64
// Block-scope atomics on one cell of all blocks.

extern "C" __global__ void block_atomics(const int *x, int *sum) {
    int v = x[blockIdx.x * 128 + threadIdx.x];
    atomicAdd_block(&sum[0], v);  // RACE
}
