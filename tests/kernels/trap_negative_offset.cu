//@ verdict: race
//@ block: 64
//@ grid: 8
// A negative offset reaches back into the neighbour.

extern "C" __global__ void negative_offset(int *a) {
    int *p = a + blockIdx.x * 64 + threadIdx.x + 1;
    p[0] = 1;  // RACE
    p[-1] = 2;  // RACE
}
