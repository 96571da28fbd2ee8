//@ verdict: verified
//@ block: 128
//@ grid: 32
// One warp a row of 128 elements.

extern "C" __global__ void warp_per_row(float *a, float s) {
    int warp = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    #pragma unroll 1
    for (int c = lane; c < 128; c += 32)
        a[warp * 128 + c] *= s;
}
