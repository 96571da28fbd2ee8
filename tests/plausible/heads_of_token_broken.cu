//@ verdict: race
//@ block: 128
//@ grid: 32
// Broken: the loop does one place too many, and that is the first of the next token.

extern "C" __global__ void heads_of_token_broken(float *q, const float *cosine, const float *sine, int heads, int half) {
    int token = blockIdx.x;
    for (int i = threadIdx.x; i <= heads * half; i += blockDim.x) {
        int head = i / half, at = i % half;
        float *x = q + (token * heads + head) * half + at;
        *x = *x * cosine[token * half + at] - sine[token * half + at];  // RACE
    }
}
