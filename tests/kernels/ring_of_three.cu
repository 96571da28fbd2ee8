//@ verdict: verified
//@ block: 128
//@ grid: 32
// Three buffers in turn: a round writes the next one and reads the one before.

extern "C" __global__ void ring_of_three(float *data, int rounds) {
    __shared__ float ring[3][128];
    int t = threadIdx.x, g = blockIdx.x * 128 + t;
    ring[0][t] = data[g];
    __syncthreads();
    float x = 0;
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        ring[(k + 1) % 3][t] = x + ring[k % 3][t];
        __syncthreads();
        x = ring[k % 3][t ^ 1] + ring[(k + 1) % 3][127 - t];
    }
    data[g] = x;
}
