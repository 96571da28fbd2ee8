//@ verdict: race
//@ block: 32
//@ grid: 8
// One warp, no barrier: its threads are not in lockstep.

extern "C" __global__ void warp_no_lockstep(int *a) {
    __shared__ int s[32];
    int t = threadIdx.x;
    int g = blockIdx.x * 32 + t;
    s[t] = a[g];  // RACE
    a[g] = s[31 - t];  // RACE
}
