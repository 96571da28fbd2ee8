//@ verdict: race
//@ block: 64
//@ grid: 64
// bar.sync 0, 32 with 64 threads: each warp passes alone, nothing orders the two.

extern "C" __global__ void counted_barrier(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];  // RACE
    asm volatile("bar.sync 0, 32;" ::: "memory");
    out[blockIdx.x * 64 + t] = s[t ^ 32];  // RACE
}
