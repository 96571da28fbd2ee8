//@ verdict: verified
//@ block: 256
//@ grid: 100
//@ param: n=300000
// Squared norm of the gradients for clipping; the sums of the warps meet in shared memory.

__device__ float warp_sum(float value) {
    for (int d = 16; d > 0; d >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, d);
    return value;
}

extern "C" __global__ void gradient_norm(const float *__restrict__ gradients, float *norm, int n) {
    __shared__ float sums[8];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += gradients[i] * gradients[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < 8; w++)
            total += sums[w];
        atomicAdd(norm, total);
    }
}
