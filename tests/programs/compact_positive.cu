//@ verdict: verified
//@ block: 256
//@ grid: 400
//@ param: n=102000
// Keeps positive numbers, in any order.

extern "C" __global__ void compact_positive(const float *in, float *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = in[i];
        if (value > 0.0f) {
            int place = atomicAdd(count, 1);
            out[place] = value;
        }
    }
}
