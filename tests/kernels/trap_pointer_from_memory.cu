//@ verdict: possible-race
//@ block: 64
//@ grid: 8
// Pointers loaded from memory may be equal for two blocks.

extern "C" __global__ void pointer_from_memory(int **rows) {
    rows[blockIdx.x][threadIdx.x] = blockIdx.x;  // RACE
}
