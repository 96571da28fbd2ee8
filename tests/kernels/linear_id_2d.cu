//@ verdict: verified
//@ block: 16,8
//@ grid: 8,8
// A two-dimensional block uses its linear thread id.

extern "C" __global__ void linear_id_2d(const float *in, float *out) {
    __shared__ float s[128];
    int t = threadIdx.y * 16 + threadIdx.x;
    int b = blockIdx.y * gridDim.x + blockIdx.x;
    s[t] = in[b * 128 + threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    out[b * 128 + threadIdx.y * 16 + threadIdx.x] = s[127 - t];
}
