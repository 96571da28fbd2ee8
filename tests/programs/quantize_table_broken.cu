//@ verdict: race
//@ block: 256
//@ grid: 1024
//@ param: n=1048576
//@ param: levels=200
// Broken: the barrier stands in front of the fill.

extern "C" __global__ void quantize_table_broken(unsigned char *image, int n, int levels, float gamma) {
    __shared__ unsigned char table[256];
    __syncthreads();
    if (threadIdx.x < levels)
        table[threadIdx.x] = 255.0f * __powf(threadIdx.x / 255.0f, gamma);  // RACE
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int level = image[i];
        if (level < levels) image[i] = table[level];  // RACE
    }
}
