//@ verdict: race
//@ block: 256
//@ grid: 32
// No barrier between the result of a pair, which the second thread reads, and the sums of the next.

extern "C" __global__ void scalar_products(float *c, const float *a, const float *b, int vectors, int elements) {
    __shared__ float sums[1024];
    for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
        int base = v * elements, end = base + elements;
        for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
            float sum = 0;
            for (int p = base + k; p < end; p += 1024) sum += a[p] * b[p];
            sums[k] = sum;  // RACE
        }
        for (int stride = 512; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int k = threadIdx.x; k < stride; k += blockDim.x) sums[k] += sums[stride + k];
        }
        __syncthreads();
        if (threadIdx.x == 1) c[v] = sums[0];  // RACE
    }
}
