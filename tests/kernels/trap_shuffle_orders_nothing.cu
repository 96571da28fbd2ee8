//@ verdict: race
//@ block: 32
//@ grid: 8
// A shuffle exchanges registers; it does not order shared memory.

extern "C" __global__ void shuffle_orders_nothing(int *a) {
    __shared__ int s[32];
    int t = threadIdx.x;
    int g = blockIdx.x * 32 + t;
    s[t] = a[g];  // RACE
    int v = __shfl_xor_sync(0xffffffffu, t, 1);
    a[g] = s[31 - t] + v;  // RACE
}
