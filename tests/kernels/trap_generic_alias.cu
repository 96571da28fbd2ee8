//@ verdict: race
//@ block: 64
//@ grid: 8
// A shared array is reached by name and through a generic pointer.

__device__ __noinline__ void store(int *p, int v) {
    *p = v;  // RACE
}

extern "C" __global__ void generic_alias(int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    store(&s[t], a[g]);
    a[g] = s[63 - t];  // RACE
}
