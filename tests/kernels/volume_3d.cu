//@ verdict: verified
//@ block: 8,8,4
//@ grid: 8,8,16
// A volume of 64 x 64 x 64: a linear thread number for the tile, coordinates for the volume.

extern "C" __global__ void volume_3d(float *volume, float *tiles) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    float v = volume[(z * 64 + y) * 64 + x];
    tiles[b * 256 + t] = v;
    volume[(z * 64 + y) * 64 + x] = 0;
}
