//@ verdict: race
//@ block: 256
//@ grid: 64
// The mirrored element is read before the counting barrier.

extern "C" __global__ void sync_count(const float *x, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = x[g];  // RACE
    float m = s[255 - t];  // RACE
    int c = __syncthreads_count(x[g] > 0.0f);
    out[g] = m * c;
}
