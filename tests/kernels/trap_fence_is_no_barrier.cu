//@ verdict: race
//@ block: 64
//@ grid: 8
//@ compiler: clang
// A fence orders nothing by itself.

extern "C" __global__ void fence_is_no_barrier(int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    s[t] = a[g];  // RACE
    __threadfence_block();
    a[g] = s[63 - t];  // RACE
}
