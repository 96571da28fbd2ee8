//@ verdict: race
//@ block: 128
//@ grid: 64
// The sums are written while neighbours still read them.

extern "C" __global__ void warp_scan_shared_broken(const int *in, int *out) {
    __shared__ int s[4][32];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int v = in[blockIdx.x * 128 + threadIdx.x];
    s[w][lane] = v;
    __syncwarp();
    #pragma unroll 1
    for (int d = 1; d < 32; d <<= 1) {
        int x = lane >= d ? s[w][lane - d] : 0; // RACE
        v += x;
        s[w][lane] = v; // RACE
        __syncwarp();
    }
    out[blockIdx.x * 128 + threadIdx.x] = v;
}
