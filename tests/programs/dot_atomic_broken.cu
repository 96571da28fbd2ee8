//@ verdict: race
//@ block: 256
//@ grid: 64
//@ param: n=1000000
// Broken: blocks add to the result without an atomic operation.

extern "C" __global__ void dot_atomic_broken(const float *x, const float *y, float *result, int n) {
    __shared__ float cache[256];
    int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += blockDim.x * gridDim.x)
        sum += x[i] * y[i];
    cache[tid] = sum;
    __syncthreads();
    for (int half = 128; half >= 1; half /= 2) {
        if (tid < half) cache[tid] += cache[tid + half];
        __syncthreads();
    }
    if (tid == 0) *result += cache[0];  // RACE
}
