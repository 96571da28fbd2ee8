//@ verdict: race
//@ block: 64
//@ grid: 8
// No two threads of one block meet; the blocks do.

extern "C" __global__ void blocks_only(int *a) {
    a[threadIdx.x] = blockIdx.x;  // RACE
}
