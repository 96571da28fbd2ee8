//@ verdict: verified
//@ block: 256
//@ grid: 64
// A counting barrier also orders the shared stores.

extern "C" __global__ void sync_count(const float *x, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = x[g];
    int c = __syncthreads_count(x[g] > 0.0f);
    float m = s[255 - t];
    out[g] = m * c;
}
