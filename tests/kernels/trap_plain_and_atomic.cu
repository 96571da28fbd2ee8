//@ verdict: race
//@ block: 64
//@ grid: 8
// A plain load is not ordered with the atomic of another thread.

extern "C" __global__ void plain_and_atomic(int *count, int *out) {
    int g = blockIdx.x * 64 + threadIdx.x;
    if (g == 0)
        atomicAdd(count, 1);  // RACE
    else
        out[g] = *count;  // RACE
}
