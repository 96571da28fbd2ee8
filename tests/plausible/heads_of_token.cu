//@ verdict: verified-when
//@ block: 128
//@ grid: 32
//@ condition: gridDim.x * heads_of_token_param_3 * heads_of_token_param_4 <= 2147483647
//@ condition: 1 <= heads_of_token_param_3 <= 2147483647
//@ condition: 1 <= heads_of_token_param_4 <= 2147483647
// A block for each token: what its threads count through are the heads and what is in each, and where that lies is put
// together from both again, as where keys are rotated.

extern "C" __global__ void heads_of_token(float *q, const float *cosine, const float *sine, int heads, int half) {
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        int head = i / half, at = i % half;
        float *x = q + (token * heads + head) * half + at;
        *x = *x * cosine[token * half + at] - sine[token * half + at];  // OUTSIDE
    }
}
