//@ verdict: race
//@ block: 64
//@ grid: 8
// Two volatile accesses of different size are not morally strong.

extern "C" __global__ void volatile_widths(int *flag, int *seen) {
    int g = blockIdx.x * 64 + threadIdx.x;
    if (g == 0)
        *(volatile int *)flag = 1;  // RACE
    else
        seen[g] = *(volatile unsigned short *)flag;  // RACE
}
