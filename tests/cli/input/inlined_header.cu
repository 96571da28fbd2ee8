#include "inlined_header.cuh"
__global__ void shift(int* values)
{
    __shared__ int tile[65];
    int i = threadIdx.x;
    tile[i] = values[i];
    values[i] = load_next(tile, i);
}
