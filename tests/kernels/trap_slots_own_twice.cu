//@ verdict: race
//@ block: 64
//@ grid: 1
// One thread adds twice and stores between, so its results are far apart. Were they near to each other, this were no race.
extern "C" __global__ void trap_slots_own_twice(const unsigned *in, unsigned *out) {
    __shared__ unsigned counts[64];
    unsigned tid = threadIdx.x;
    counts[tid] = 0;
    unsigned first = atomicAdd(&counts[tid], 1u);
    counts[tid] = 1000;
    unsigned second = atomicAdd(&counts[tid], 1u);
    __syncthreads();
    if (second - first > 500) out[0] = tid; // RACE
}
