//@ verdict: verified
//@ block: 256
//@ grid: 1
//@ param: steps=100
// Heat in a rod: many time steps by one block, in place in shared memory.

extern "C" __global__ void rod_in_shared(float *rod, int steps) {
    __shared__ float u[256];
    int i = threadIdx.x;
    u[i] = rod[i];
    __syncthreads();
    for (int t = 0; t < steps; t++) {
        float next = u[i];
        if (i > 0 && i < 255) next += 0.25f * (u[i - 1] - 2.0f * u[i] + u[i + 1]);
        __syncthreads();
        u[i] = next;
        __syncthreads();
    }
    rod[i] = u[i];
}
