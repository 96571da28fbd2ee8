//@ verdict: race
//@ block: 64
//@ grid: 1
// An exchange is no race with additions, and lets the counter start again.
extern "C" __global__ void trap_slots_exchange(const int *in, int *out, int *count) {
    int tid = threadIdx.x;
    out[atomicAdd(count, 1)] = in[tid]; // RACE
    if (in[tid] < 0) atomicExch(count, 0);
}
