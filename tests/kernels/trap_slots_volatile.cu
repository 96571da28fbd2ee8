//@ verdict: race
//@ block: 64
//@ grid: 1
// A volatile store is none either.
extern "C" __global__ void trap_slots_volatile(const int *in, int *out, int *count) {
    int tid = threadIdx.x;
    out[atomicAdd(count, 1)] = in[tid]; // RACE
    if (in[tid] < 0) *(volatile int *)count = 0;
}
