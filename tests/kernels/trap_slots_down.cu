//@ verdict: race
//@ block: 64
//@ grid: 1
// A counter that goes up and down returns a value twice.
extern "C" __global__ void trap_slots_down(const int *in, int *out, int *count) {
    int tid = threadIdx.x;
    if (in[tid] > 0) out[atomicAdd(count, 1)] = tid; // RACE
    else atomicAdd(count, -1);
}
