//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier between the store and the mirrored load.

extern "C" __global__ void reverse(float *d) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = d[g];  // RACE
    d[g] = s[255 - t];  // RACE
}
