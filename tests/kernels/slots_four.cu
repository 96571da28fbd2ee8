//@ verdict: verified
//@ block: 64
//@ grid: 8
// Each thread takes four places at once.
extern "C" __global__ void slots_four(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int start = atomicAdd(count, 4);
    for (int k = 0; k < 4; k++) out[start + k] = in[i] * k;
}
