//@ verdict: verified
//@ block: 256
//@ grid: 1024
//@ param: n=1048576
//@ param: levels=200
// Tone curve: the table is computed by the block, then each pixel is looked up.

extern "C" __global__ void quantize_table(unsigned char *image, int n, int levels, float gamma) {
    __shared__ unsigned char table[256];
    if (threadIdx.x < levels)
        table[threadIdx.x] = 255.0f * __powf(threadIdx.x / 255.0f, gamma);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int level = image[i];
        if (level < levels) image[i] = table[level];
    }
}
