//@ verdict: race
//@ block: 32,4,2
//@ grid: 8,8,8
// Planes are as far apart as rows of a square one would be.

extern "C" __global__ void cells_of_volume_broken(float *out, const float *in, int width, int height, int depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < width && y < height && z < depth) {
        int cell = (z * width + y) * width + x;
        out[cell] = 2.0f * in[cell];  // RACE
    }
}
