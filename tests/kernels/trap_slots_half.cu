//@ verdict: race
//@ block: 64
//@ grid: 1
// A store of two bytes by the thread that adds: a race with all other additions, and slots repeat behind it.
extern "C" __global__ void trap_slots_half(const unsigned *in, unsigned *out, unsigned *count) {
    unsigned tid = threadIdx.x;
    out[atomicAdd(count, 1u)] = tid;                  // RACE
    if (in[tid] == 3) *(unsigned short *)count = 0;   // RACE
}
