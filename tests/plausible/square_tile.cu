//@ verdict: verified-when
//@ block: 16,16
//@ grid: 1
//@ condition: square_tile_param_1 >= 16
//@ condition: blockDim.y * square_tile_param_1 <= 2147483647
//@ condition: 0 <= square_tile_param_1
// One tile in rows that are as long as a parameter says: with no guard, so the launch fits.

extern "C" __global__ void square_tile(float *tile, int pitch) {
    tile[threadIdx.y * pitch + threadIdx.x] *= 2;  // OUTSIDE
}
