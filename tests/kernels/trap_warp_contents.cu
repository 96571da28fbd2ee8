//@ verdict: race
//@ block: 64
//@ grid: 1
// What is read behind a barrier of the warp is not what the block's last barrier left there.

extern "C" __global__ void trap_warp_contents(float *out) {
    __shared__ int row[2];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    if (lane == 0) row[w] = w;
    __syncthreads();
    int before = row[w];
    __syncwarp();
    if (lane == 0) row[w] = 0;
    __syncwarp();
    int behind = row[w];
    out[before * 32 + lane] = 1.0f; // RACE
    out[behind * 32 + lane] = 2.0f; // RACE
}
