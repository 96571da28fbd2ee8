//@ verdict: verified
//@ block: 64
//@ grid: 32
// A thread keeps 32 elements in registers and exchanges them for those of another. The compiler writes the inner loops out: in shared memory
// the 32 elements of a thread lie side by side, and begin where those of the thread before end.
extern "C" __global__ void rows_beside(const float *in, float *out, int rounds) {
    __shared__ float tile[64 * 32];
    float row[32];
    int own = threadIdx.x * 32, other = (63 - threadIdx.x) * 32;
    for (int i = 0; i < 32; i++)
        row[i] = in[blockIdx.x * 2048 + own + i];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 32; i++)
            tile[own + i] = row[i];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            row[i] += 0.5f * tile[other + i];
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        out[blockIdx.x * 2048 + own + i] = row[i];
}
