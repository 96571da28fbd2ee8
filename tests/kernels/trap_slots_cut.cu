//@ verdict: race
//@ block: 64
//@ grid: 1
// What is left of a slot in 5 bits repeats.
extern "C" __global__ void trap_slots_cut(int *out, unsigned *count) {
    out[atomicAdd(count, 1u) & 31] = threadIdx.x; // RACE
}
