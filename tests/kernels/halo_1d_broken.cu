//@ verdict: race
//@ block: 256
//@ grid: 64
// The right halo goes to the last inner cell, which its neighbour fills.

extern "C" __global__ void halo_1d(const float *in, float *out) {
    __shared__ float s[258];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t + 1] = in[g + 1];  // RACE
    if (t == 0) s[0] = in[g];
    if (t == 255) s[255] = in[g + 2];  // RACE
    __syncthreads();
    out[g] = (s[t] + s[t + 1] + s[t + 2]) / 3.0f;
}
