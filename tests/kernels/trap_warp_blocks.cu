//@ verdict: race
//@ block: 32
//@ grid: 2
// The first warps of two blocks are two warps.

extern "C" __global__ void trap_warp_blocks(float *a) {
    int t = threadIdx.x;
    a[t] = 1.0f; // RACE
    __syncwarp();
    a[t ^ 1] = 2.0f; // RACE
}
