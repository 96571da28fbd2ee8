//@ verdict: race
//@ block: 64
//@ grid: 32
// As rows_beside, but rows begin one element early: the last of one is the first of the next.
extern "C" __global__ void rows_beside_broken(const float *in, float *out, int rounds) {
    __shared__ float tile[64 * 32];
    float row[32];
    int own = threadIdx.x * 31, other = (63 - threadIdx.x) * 32;
    for (int i = 0; i < 32; i++)
        row[i] = in[blockIdx.x * 2048 + own + i];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 32; i++)
            tile[own + i] = row[i]; // RACE
        __syncthreads();
        for (int i = 0; i < 32; i++)
            row[i] += 0.5f * tile[other + i];
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        out[blockIdx.x * 2048 + own + i] = row[i]; // RACE
}
