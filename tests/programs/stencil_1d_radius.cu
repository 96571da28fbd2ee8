//@ verdict: verified
//@ block: 256
//@ grid: 400
//@ param: n=102400
// Sum over seven neighbours; the first lanes of a block load the halo.

#define RADIUS 3
#define BLOCK 256

extern "C" __global__ void stencil_1d_radius(const int *in, int *out, int n) {
    __shared__ int temp[BLOCK + 2 * RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x;
    int l = threadIdx.x + RADIUS;
    temp[l] = in[g + RADIUS];
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = in[g];
        temp[l + BLOCK] = in[g + BLOCK + RADIUS];
    }
    __syncthreads();
    int sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += temp[l + k];
    if (g < n) out[g] = sum;
}
