//@ verdict: race
//@ block: 64
//@ grid: 8
// The index array is written by the kernel, so two loads of one cell may differ:
// the loaded index is no function of its position.

extern "C" __global__ void index_is_written(int *idx, int *out) {
    int g = blockIdx.x * 64 + threadIdx.x;
    int i = *(volatile int *)&idx[0];
    if (g == 0) *(volatile int *)&idx[0] = 1;
    int j = *(volatile int *)&idx[0];
    out[g + i - j] = g;  // RACE
}
