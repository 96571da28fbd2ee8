//@ verdict: race
//@ block: 128
//@ grid: 64
// The flag is read by a plain load.

extern "C" __global__ void volatile_flag(int *flag, int *seen) {
    int g = blockIdx.x * 128 + threadIdx.x;
    if (g == 0) {
        *(volatile int *)flag = 1;  // RACE
    } else {
        seen[g] = *flag;  // RACE
    }
}
