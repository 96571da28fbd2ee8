//@ verdict: verified
//@ block: 16,16
//@ grid: 32,32
//@ param: size=512
//@ param: pivot=10
// A step of Gaussian elimination: rows below the pivot are changed, the multipliers stay in an array of their own.

extern "C" __global__ void gauss_eliminate(float *matrix, const float *multipliers, int size, int pivot) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row <= pivot || row >= size || column < pivot || column >= size) return;
    matrix[row * size + column] -= multipliers[row] * matrix[pivot * size + column];
}
