//@ verdict: race
//@ block: 8,8,4
//@ grid: 8,8,16
// The slices of a tile are only eight rows of seven apart.

extern "C" __global__ void volume_3d(float *volume, float *tiles) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * (blockDim.x - 1) + threadIdx.x;
    int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    float v = volume[(z * 64 + y) * 64 + x];
    tiles[b * 256 + t] = v;  // RACE
    volume[(z * 64 + y) * 64 + x] = 0;
}
