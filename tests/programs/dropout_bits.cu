//@ verdict: verified
//@ block: 256
//@ grid: 400
//@ param: n=102400
// Dropout: a warp packs the decisions of its lanes into one word.

extern "C" __global__ void dropout_bits(float *data, unsigned *mask, const float *random, int n, float rate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool keep = random[i] >= rate;
    unsigned word = __ballot_sync(0xffffffffu, keep);
    if (i % 32 == 0) mask[i / 32] = word;
    data[i] = keep ? data[i] / (1.0f - rate) : 0.0f;
}
