//@ verdict: race
//@ block: 16,16
//@ grid: 1
// Broken: both ids are columns.

extern "C" __global__ void square_tile_broken(float *tile, int pitch) {
    tile[threadIdx.y + threadIdx.x] *= 2;  // RACE
    tile[threadIdx.y * pitch + threadIdx.x] += 1;  // RACE
}
