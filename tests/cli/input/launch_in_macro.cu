extern "C" __global__ void k(int *out, int n) {
    out[threadIdx.x & 31] = threadIdx.x;
}
#define LAUNCH(block) k<<<1, block>>>

void host(int *out, void **arguments) {
    k<<<1, 32>>>(out, 1);
    LAUNCH(64)(out, 1);
    auto same = k;
    same<<<1, 64>>>(out, 1);
    cudaLaunchKernel((void *)k, dim3(1), dim3(64), arguments, 0, 0);
}
