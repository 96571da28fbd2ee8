//@ verdict: verified
//@ block: 64
//@ grid: 16
// All-pairs sum over tiles in shared memory.

extern "C" __global__ void nbody_tile(int tiles, const float *pos, float *force) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float me = pos[blockIdx.x * 64 + t], f = 0.0f;
    for (int k = 0; k < tiles; k++) {
        tile[t] = pos[k * 64 + t];
        __syncthreads();
        #pragma unroll 4
        for (int j = 0; j < 64; j++) f += (tile[j] - me) * 0.01f;
        __syncthreads();
    }
    force[blockIdx.x * 64 + t] = f;
}
