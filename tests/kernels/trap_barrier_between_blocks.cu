//@ verdict: race
//@ block: 64
//@ grid: 8
//@ compiler: clang
// A block barrier orders nothing between blocks.

extern "C" __global__ void barrier_between_blocks(int *a, int *b) {
    int g = blockIdx.x * 64 + threadIdx.x;
    a[g] = g;  // RACE
    __syncthreads();
    b[g] = a[511 - g];  // RACE
}
