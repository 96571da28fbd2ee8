//@ verdict: verified
//@ block: 8,8,4
//@ grid: 8,8,8
//@ compiler: clang
// Three-dimensional ids over a 32x64x64 volume.

extern "C" __global__ void scale_3d(float *v, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    v[(z * 64 + y) * 64 + x] *= s;
}
