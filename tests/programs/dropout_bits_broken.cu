//@ verdict: race
//@ block: 256
//@ grid: 400
//@ param: n=102400
// Broken: each lane adds its own bit to the word.

extern "C" __global__ void dropout_bits_broken(float *data, unsigned *mask, const float *random, int n, float rate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool keep = random[i] >= rate;
    if (keep) mask[i / 32] |= 1u << i % 32;  // RACE
    data[i] = keep ? data[i] / (1.0f - rate) : 0.0f;
}
