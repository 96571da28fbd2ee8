//@ verdict: race
//@ block: 64
//@ grid: 64
// A warp barrier in its place: the other warp is not ordered.

extern "C" __global__ void sync_warp(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    s[t] = a[g];  // RACE
    __syncwarp();
    a[g] = s[t ^ 32];  // RACE
}
