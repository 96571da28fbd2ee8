//@ verdict: race
//@ block: 128
//@ grid: 32
// Broken: each block starts where the one before it has its second head.

extern "C" __global__ void heads_stated_broken(float *q, const float *cosine, const float *sine, int heads, int half) {
    asm volatile("//@ requires [heads_stated_broken_param_3] <= 64;\n\t"
                 "//@ requires [heads_stated_broken_param_4] <= 256;");
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        int head = i / half, at = i % half;
        float *x = q + (token + head) * half + at;
        *x = *x * cosine[token * half + at] - sine[token * half + at];  // RACE
    }
}
