extern "C" __global__ void k(int *out, int n) {
    out[threadIdx.x & 31] = threadIdx.x;
}

dim3 make(int width) {
    return dim3(width, 2);
}

void host(int *out) {
    dim3 block(make(32));
    k<<<1, block>>>(out, 1);
}
