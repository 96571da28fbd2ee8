//@ verdict: verified-when
//@ block: 4,2
//@ grid: 1,1,2
//@ condition: 1 <= batch_of_squares_param_2 <= 2147483647
//@ condition: batch_of_squares_param_2 >= batch_of_squares_param_1 * batch_of_squares_param_1
//@ condition: 0 <= batch_of_squares_param_1
// Matrices lie a stride apart, which is at least what one of them has. That its product with the grid does not wrap
// follows where the grid has two planes.

extern "C" __global__ void batch_of_squares(float *matrix, int n, int stride) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    matrix[blockIdx.z * stride + row * n + column] *= 2.0f;  // OUTSIDE
}
