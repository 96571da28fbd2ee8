//@ verdict: race
//@ block: 16,16
//@ grid: 1,4096
//@ param: hidden=16
// Broken: a step of the sum may begin before the one before is done.

extern "C" __global__ void backprop_forward_broken(const float *input, const float *weights, float *partial_sums, int hidden) {
    __shared__ float node[16];
    __shared__ float products[16][16];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hidden + 1) * (16 * by + ty + 1) + tx + 1;
    if (tx == 0) node[ty] = input[16 * by + ty + 1];
    __syncthreads();
    products[ty][tx] = weights[index] * node[ty];  // RACE
    __syncthreads();
    for (int step = 2; step <= 16; step *= 2) {
        if (ty % step == 0) products[ty][tx] += products[ty + step / 2][tx];  // RACE
    }
    if (ty == 0) partial_sums[by * hidden + tx] = products[0][tx];  // RACE
}
