//@ verdict: verified-when
//@ block: 192
//@ grid: 32
//@ condition: planes_of_cells_param_2 >= 6144
//@ condition: 4 * planes_of_cells_param_2 <= 2147483647
//@ condition: 0 <= planes_of_cells_param_2
// Values of a cell lie in planes, as many cells apart as there are.

extern "C" __global__ void planes_of_cells(float *value, const float *change, int cells, float step) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    value[cell] += step * change[cell];                          // OUTSIDE
    value[cell + 4 * cells] += step * change[cell + 4 * cells];  // OUTSIDE
    value[cell + 3 * cells] += step * change[cell + 3 * cells];  // OUTSIDE
}
