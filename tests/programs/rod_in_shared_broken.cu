//@ verdict: race
//@ block: 256
//@ grid: 1
//@ param: steps=100
//@ slow: yes
// Broken: new values are written before the neighbours have read the old ones.

extern "C" __global__ void rod_in_shared_broken(float *rod, int steps) {
    __shared__ float u[256];
    int i = threadIdx.x;
    u[i] = rod[i];
    __syncthreads();
    for (int t = 0; t < steps; t++) {
        float next = u[i];
        if (i > 0 && i < 255) next += 0.25f * (u[i - 1] - 2.0f * u[i] + u[i + 1]);  // RACE
        u[i] = next;  // RACE
        __syncthreads();
    }
    rod[i] = u[i];
}
