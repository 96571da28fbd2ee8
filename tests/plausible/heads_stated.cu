//@ verdict: verified-when
//@ block: 128
//@ grid: 32
//@ condition: 1 <= heads_stated_param_4 <= 2147483647
// What a precondition states is no condition: there are at most 64 heads of 256 places, so that nothing wraps. It does not
// state that there is a place.

extern "C" __global__ void heads_stated(float *q, const float *cosine, const float *sine, int heads, int half) {
    asm volatile("//@ requires [heads_stated_param_3] <= 64;\n\t"
                 "//@ requires [heads_stated_param_4] <= 256;");
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        int head = i / half, at = i % half;
        float *x = q + (token * heads + head) * half + at;
        *x = *x * cosine[token * half + at] - sine[token * half + at];
    }
}
