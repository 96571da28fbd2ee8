//@ verdict: race
//@ block: 128
//@ grid: 32
// The lanes step by 16.

extern "C" __global__ void warp_per_row(float *a, float s) {
    int warp = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    #pragma unroll 1
    for (int c = lane; c < 128; c += 16)
        a[warp * 128 + c] *= s;  // RACE
}
