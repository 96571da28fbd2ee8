//@ verdict: race
//@ block: 64
//@ grid: 64
// The readers only arrive, the writers wait: the wrong way round.

extern "C" __global__ void barrier_arrive(const int *in, int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = in[blockIdx.x * 32 + t];  // RACE
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        out[blockIdx.x * 32 + t - 32] = s[t - 32];  // RACE
    }
}
