//@ verdict: race
//@ block: 128
//@ grid: 512
//@ param: n=65000
// Broken: nobody waits until the key is there.

extern "C" __global__ void cipher_key_fill_broken(unsigned *text, const unsigned *user_key, int n) {
    __shared__ unsigned key[16];
    if (threadIdx.x < 16)
        key[threadIdx.x] = user_key[threadIdx.x] ^ 0x9e3779b9u;  // RACE
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = text[i];
    for (int round = 0; round < 16; round++)
        word = (word << 3 | word >> 29) + key[round];  // RACE
    text[i] = word;
}
