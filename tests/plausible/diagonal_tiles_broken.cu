//@ verdict: race
//@ block: 16
//@ grid: 6
// Broken: all threads of a tile take its first column.

extern "C" __global__ void diagonal_tiles_broken(float *score, int pitch) {
    score[(gridDim.x - 1 - blockIdx.x) * pitch + blockIdx.x * 16] += threadIdx.x;  // RACE
}
