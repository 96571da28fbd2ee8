//@ verdict: race
//@ block: 128
//@ grid: 32
// Two buffers are not enough for a read of the round before.

extern "C" __global__ void ring_of_three(float *data, int rounds) {
    __shared__ float ring[3][128];
    int t = threadIdx.x, g = blockIdx.x * 128 + t;
    ring[0][t] = data[g];
    __syncthreads();
    float x = 0;
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        ring[(k + 1) & 1][t] = x + ring[k & 1][t];  // RACE
        __syncthreads();
        x = ring[k & 1][t ^ 1] + ring[(k + 1) & 1][127 - t];  // RACE
    }
    data[g] = x;
}
