//@ verdict: race
//@ block: 1024
//@ grid: 98
//@ param: n=100000
// Broken: the first warp does not wait for the sums of the others.

extern "C" __global__ void scan_warps_broken(const int *in, int *out, int *block_sums, int n) {
    __shared__ int sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, value, d);
        if (lane >= d) value += other;
    }
    if (lane == 31) sums[warp] = value;  // RACE
    if (warp == 0) {
        int sum = sums[lane];  // RACE
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += other;
        }
        sums[lane] = sum;  // RACE
    }
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    if (i < n) out[i] = value;
    if (threadIdx.x == blockDim.x - 1) block_sums[blockIdx.x] = value;
}
