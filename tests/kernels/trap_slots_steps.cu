//@ verdict: race
//@ block: 64
//@ grid: 4
// Of two steps the common divisor counts: four places are not those of one thread.
extern "C" __global__ void trap_slots_steps(int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int start = (i & 1) ? atomicAdd(count, 4) : atomicAdd(count, 2);
    for (int k = 0; k < 4; k++) out[start + k] = i; // RACE
}
