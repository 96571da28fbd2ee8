//@ verdict: race
//@ block: 64
//@ grid: 8
// All threads write the same value to one cell: still a race.

extern "C" __global__ void same_value(const int *in, int *found) {
    int g = blockIdx.x * 64 + threadIdx.x;
    if (in[g] == 42) *found = 1;  // RACE
}
