//@ verdict: verified
//@ block: 128
//@ grid: 512
//@ param: n=65000
// Encrypts words with a key that sixteen lanes fetch into shared memory.

extern "C" __global__ void cipher_key_fill(unsigned *text, const unsigned *user_key, int n) {
    __shared__ unsigned key[16];
    if (threadIdx.x < 16)
        key[threadIdx.x] = user_key[threadIdx.x] ^ 0x9e3779b9u;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = text[i];
    for (int round = 0; round < 16; round++)
        word = (word << 3 | word >> 29) + key[round];
    text[i] = word;
}
