//@ verdict: race
//@ block: 128
//@ grid: 32
// Broken: the heads of all tokens lie at those of the first ones, `token + head` in the place of `token * heads + head`.

extern "C" __global__ void heads_wide_broken(float *q, int heads, int half) {
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        int head = i / half, at = i % half;
        q[((size_t)token + head) * half + at] *= 2;  // RACE
    }
}
