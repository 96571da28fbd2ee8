//@ verdict: verified-when
//@ block: 16
//@ grid: 6
//@ condition: diagonal_tiles_param_1 >= 96
//@ condition: gridDim.x * diagonal_tiles_param_1 <= 2147483647
//@ condition: 0 <= diagonal_tiles_param_1
// Rows of tiles on a diagonal of a matrix: columns grow where rows run down.

extern "C" __global__ void diagonal_tiles(float *score, int pitch) {
    score[(gridDim.x - 1 - blockIdx.x) * pitch + blockIdx.x * 16 + threadIdx.x] += 1.0f;  // OUTSIDE
}
