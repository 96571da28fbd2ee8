//@ verdict: race
//@ block: 256
//@ grid: 64
// The same kernel with 64 blocks: a barrier orders no other block.

extern "C" __global__ void shift_one_block(float *a) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[g + 1];  // RACE
    __syncthreads();
    a[g] = v;  // RACE
}
