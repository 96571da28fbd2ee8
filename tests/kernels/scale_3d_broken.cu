//@ verdict: race
//@ block: 8,8,4
//@ grid: 8,8,8
//@ compiler: clang
// The row length is halved, so neighbouring rows overlap.

extern "C" __global__ void scale_3d(float *v, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    v[(z * 64 + y) * 32 + x] *= s;  // RACE
}
