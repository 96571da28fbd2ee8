//@ verdict: verified
//@ block: 128
//@ grid: 32
//@ param: tries=1000
// Estimates pi; every thread of the grid has a random state of its own.

extern "C" __global__ void monte_carlo_states(unsigned *states, unsigned long long *hits, int tries) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = states[id];
    unsigned inside = 0;
    for (int t = 0; t < tries; t++) {
        state = state * 1664525u + 1013904223u;
        float x = (state >> 8) * (1.0f / 16777216.0f);
        state = state * 1664525u + 1013904223u;
        float y = (state >> 8) * (1.0f / 16777216.0f);
        inside += x * x + y * y < 1.0f;
    }
    states[id] = state;
    atomicAdd(hits, (unsigned long long)inside);
}
