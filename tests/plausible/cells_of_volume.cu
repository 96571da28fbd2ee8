//@ verdict: verified-when
//@ block: 32,4,2
//@ grid: 8,8,8
//@ condition: cells_of_volume_param_2 * cells_of_volume_param_3 * cells_of_volume_param_4 <= 2147483647
//@ condition: 0 <= cells_of_volume_param_2
//@ condition: 0 <= cells_of_volume_param_3
//@ condition: 0 <= cells_of_volume_param_4
// One thread for each cell of a volume, along three axes.

extern "C" __global__ void cells_of_volume(float *out, const float *in, int width, int height, int depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < width && y < height && z < depth) {
        int cell = (z * height + y) * width + x;
        out[cell] = 2.0f * in[cell];  // OUTSIDE
    }
}
