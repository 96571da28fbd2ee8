//@ verdict: race
//@ block: 64
//@ grid: 4
// An addition of 0 takes no slot.
extern "C" __global__ void trap_slots_zero(int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[atomicAdd(count, 0)] = i; // RACE
    atomicAdd(count, 1);
}
