//@ verdict: race
//@ block: 256
//@ grid: 400
//@ param: n=102400
// Broken: the right halo begins one element too early.

#define RADIUS 3
#define BLOCK 256

extern "C" __global__ void stencil_1d_radius_broken(const int *in, int *out, int n) {
    __shared__ int temp[BLOCK + 2 * RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x;
    int l = threadIdx.x + RADIUS;
    temp[l] = in[g + RADIUS];  // RACE
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = in[g];
        temp[l + BLOCK - 1] = in[g + BLOCK + RADIUS - 1];  // RACE
    }
    __syncthreads();
    int sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += temp[l + k];
    if (g < n) out[g] = sum;
}
