//@ verdict: race
//@ block: 32
//@ grid: 4
// Slots of a block's own counter: each block has the same ones.
extern "C" __global__ void trap_slots_blocks(unsigned *out) {
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    unsigned slot = atomicAdd(&count, 1u);
    out[slot] = threadIdx.x; // RACE
}
