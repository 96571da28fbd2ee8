//@ verdict: verified
//@ block: 64
//@ grid: 64
// Inline bar.sync with a count equal to the block size.

extern "C" __global__ void bar_full_count(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    s[t] = a[g];
    asm volatile("bar.sync 0, 64;" ::: "memory");
    a[g] = s[63 - t];
}
