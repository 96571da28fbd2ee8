//@ verdict: race
//@ block: 4,2
//@ grid: 1,1,2
// Broken: the guard of the columns includes one too many.

extern "C" __global__ void batch_of_squares_broken(float *matrix, int n, int stride) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column > n) return;
    matrix[blockIdx.z * stride + row * n + column] *= 2.0f;  // RACE
}
