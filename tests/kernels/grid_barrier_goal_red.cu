//@ verdict: verified
//@ block: 64
//@ grid: 4
// A counter that only grows, with an addition that returns nothing and releases, and loads that acquire; the arrays change places.
__device__ void all_blocks(unsigned *count, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
        unsigned found;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(count) : "memory");
        while (found < goal);
    }
    __syncthreads();
}

extern "C" __global__ void grid_barrier_goal_red(float *x, float *y, unsigned *count, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 1; r <= rounds; r++) {
        float *from = r % 2 ? x : y, *to = r % 2 ? y : x;
        to[i] = from[(i + 64) % n];
        all_blocks(count, r * gridDim.x);
    }
}
