//@ verdict: verified
//@ block: 64
//@ grid: 8
// An increment whose bound is the greatest number.
extern "C" __global__ void slots_inc(const int *in, int *out, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) out[atomicInc(count, 0xffffffffu)] = i;
}
