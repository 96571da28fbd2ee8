//@ verdict: verified
//@ block: 128
//@ grid: 64
// A flag written and polled once by volatile accesses (strong, system scope).

extern "C" __global__ void volatile_flag(int *flag, int *seen) {
    int g = blockIdx.x * 128 + threadIdx.x;
    if (g == 0) {
        *(volatile int *)flag = 1;
    } else {
        seen[g] = *(volatile int *)flag;
    }
}
