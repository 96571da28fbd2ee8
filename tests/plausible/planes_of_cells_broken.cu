//@ verdict: race
//@ block: 192
//@ grid: 32
//@ row: 3
// The last plane starts one cell early.
extern "C" __global__ void planes_of_cells_broken(float *value, const float *change, int cells, float step) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    value[cell + 3 * cells] += step * change[cell + 3 * cells];      // RACE
    value[cell + 3 * cells - 1] += step * change[cell + 4 * cells];  // RACE
}
