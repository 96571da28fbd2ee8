//@ verdict: verified
//@ block: 64
//@ grid: 100
//@ param: stages=16
//@ slow: yes
// A pipeline of three buffers: two stages ahead are loaded while one is used.

extern "C" __global__ void ring_of_stages(const float *in, float *out, int stages) {
    __shared__ float ring[3][64];
    const int depth = 3;
    int tid = threadIdx.x;
    const float *mine = in + (size_t)blockIdx.x * stages * 64;
    ring[0][tid] = mine[tid];
    ring[1][tid] = mine[64 + tid];
    float sum = 0.0f;
    for (int s = 0; s < stages; s++) {
        __syncthreads();
        sum += ring[s % depth][63 - tid];
        if (s + 2 < stages) ring[(s + 2) % depth][tid] = mine[(s + 2) * 64 + tid];
    }
    out[blockIdx.x * 64 + tid] = sum;
}
