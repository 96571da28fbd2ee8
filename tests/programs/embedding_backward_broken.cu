//@ verdict: race
//@ block: 128
//@ grid: 2048
//@ param: width=300
// Broken: the same word in two blocks loses a gradient.

extern "C" __global__ void embedding_backward_broken(const int *tokens, const float *gradient, float *table, int width) {
    int token = blockIdx.x;
    int word = tokens[token];
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float g = gradient[token * width + i];
        table[word * width + i] += g;  // RACE
    }
}
