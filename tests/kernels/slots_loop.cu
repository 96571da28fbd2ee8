//@ verdict: verified
//@ block: 64
//@ grid: 8
// A thread may take several slots. That the counter does not wrap is an assumption, which is printed.
extern "C" __global__ void slots_loop(const int *first, const int *in, int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = first[i]; k < first[i + 1]; k++) {
        if (in[k] > 0) out[atomicAdd(count, 1)] = in[k];
    }
}
