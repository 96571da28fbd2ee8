//@ verdict: race
//@ block: 16,8
//@ grid: 8,8
// The linear id has the wrong row length.

extern "C" __global__ void linear_id_2d(const float *in, float *out) {
    __shared__ float s[128];
    int t = threadIdx.y * 8 + threadIdx.x;
    int b = blockIdx.y * gridDim.x + blockIdx.x;
    s[t] = in[b * 128 + threadIdx.y * 16 + threadIdx.x];  // RACE
    __syncthreads();
    out[b * 128 + threadIdx.y * 16 + threadIdx.x] = s[127 - t];
}
