//@ verdict: race
//@ block: 64
//@ grid: 8
//@ option: any-values
// With a multiple of 2^24 as the width, rows meet modulo 2^32.

extern "C" __global__ void wrap_row_width(unsigned width, int *a) {
    unsigned row = threadIdx.x * gridDim.x + blockIdx.x;
    if (width > 4096) a[row * width] = row;  // RACE
}
