//@ verdict: race
//@ block: 64
//@ grid: 1
// Slots of two counters may be the same.
extern "C" __global__ void trap_slots_two_counters(int *out, unsigned *counts) {
    out[atomicAdd(&counts[threadIdx.x % 2], 1u)] = threadIdx.x; // RACE
}
