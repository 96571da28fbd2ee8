//@ verdict: verified
//@ block: 256
//@ grid: 64
//@ param: n=1000000
// Sum in one launch: the block that finishes last adds the partial sums of all.

__device__ unsigned finished = 0;

extern "C" __global__ void last_block_sum(const float *in, volatile float *partial, float *result, int n) {
    __shared__ float sums[256];
    __shared__ bool is_last;
    int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + tid; i < n; i += gridDim.x * 256)
        sum += in[i];
    sums[tid] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        __syncthreads();
        if (tid < s) sums[tid] += sums[tid + s];
    }
    if (tid == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        float total = 0.0f;
        for (int b = tid; b < gridDim.x; b += 256)
            total += partial[b];
        atomicAdd(result, total);
    }
}
