//@ verdict: verified-when
//@ block: 128
//@ grid: 32
//@ condition: 1 <= heads_wide_param_1 <= 2147483647
//@ condition: 1 <= heads_wide_param_2 <= 2147483647
//@ condition: heads_wide_param_1 * heads_wide_param_2 <= 1073741824
// Heads of a token with places of 64 bits, which do not wrap: but the count of the loop does, for nearly 2^31 of them.

extern "C" __global__ void heads_wide(float *q, int heads, int half) {
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        int head = i / half, at = i % half;
        q[((size_t)token * heads + head) * half + at] *= 2;
    }
}
