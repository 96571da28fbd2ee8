extern "C" __global__ void only_code(int *a) {
    a[threadIdx.x] = 0;
}
