//@ verdict: verified
//@ block: 128
//@ grid: 2048
//@ param: width=300
// Adds the gradient of each token to the row of its word; a word may come several times.

extern "C" __global__ void embedding_backward(const int *tokens, const float *gradient, float *table, int width) {
    int token = blockIdx.x;
    int word = tokens[token];
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float g = gradient[token * width + i];
        atomicAdd(&table[word * width + i], g);
    }
}
