//@ verdict: verified
//@ block: 256
//@ grid: 1
// Shift left in place: a barrier orders the one block of the launch.

extern "C" __global__ void shift_one_block(float *a) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[g + 1];
    __syncthreads();
    a[g] = v;
}
