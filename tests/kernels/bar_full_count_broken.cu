//@ verdict: race
//@ block: 64
//@ grid: 64
// The count covers one warp, so each warp passes alone.

extern "C" __global__ void bar_full_count(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    s[t] = a[g];  // RACE
    asm volatile("bar.sync 0, 32;" ::: "memory");
    a[g] = s[63 - t];  // RACE
}
