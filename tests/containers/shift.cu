extern "C" __global__ void shift(int *a) {
    a[threadIdx.x] = a[threadIdx.x + 1];
}
