//@ verdict: race
//@ block: 64
//@ grid: 1
// A store that only barriers of the warp order is one between two winners, too.
extern "C" __global__ void trap_winner_warp(int *where) {
    __shared__ int taken[2];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    if (lane == 0) taken[warp] = 0;
    __syncwarp();
    int first = lane < 16 ? atomicExch(&taken[warp], 1) : 1;
    __syncwarp();
    if (lane == 0) taken[warp] = 0;
    __syncwarp();
    int second = lane < 16 ? 1 : atomicExch(&taken[warp], 1);
    if (first == 0 || second == 0) where[warp] = lane; // RACE
}
