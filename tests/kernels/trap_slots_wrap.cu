//@ verdict: race
//@ block: 64
//@ grid: 4
// 64 additions of 2^26 wrap the counter.
extern "C" __global__ void trap_slots_wrap(int *out, unsigned *count) {
    unsigned slot = atomicAdd(count, 1u << 26);
    out[slot >> 26] = threadIdx.x; // RACE
}
