//@ verdict: verified
//@ block: 32,8
//@ grid: 128
//@ param: tokens=1000
//@ param: width=300
//@ slow: yes
// Copies the rows of the words of a text; a warp a token.

extern "C" __global__ void embedding_lookup(const long long *ids, const float *table, float *out, int tokens, int width) {
    int token = blockIdx.x * blockDim.y + threadIdx.y;
    if (token >= tokens) return;
    const float *row = table + ids[token] * width;
    for (int i = threadIdx.x; i < width; i += 32)
        out[(long long)token * width + i] = row[i];
}
