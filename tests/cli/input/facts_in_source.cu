//@ requires distinct([index].s32);     no two threads write one element
//@ requires [shift] >= 0;
__global__ void scatter(const int *index, const int *in, int *out, int shift) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[index[i]] = in[i];
}
