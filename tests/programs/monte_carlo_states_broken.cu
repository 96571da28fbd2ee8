//@ verdict: race
//@ block: 128
//@ grid: 32
//@ param: tries=1000
//@ gap: known possible-race: the proof fails at the right lines, but an execution with so many tries is not shown
// Broken: threads of different blocks share the state of their position.

extern "C" __global__ void monte_carlo_states_broken(unsigned *states, unsigned long long *hits, int tries) {
    int id = threadIdx.x;
    unsigned state = states[id];  // RACE
    unsigned inside = 0;
    for (int t = 0; t < tries; t++) {
        state = state * 1664525u + 1013904223u;
        float x = (state >> 8) * (1.0f / 16777216.0f);
        state = state * 1664525u + 1013904223u;
        float y = (state >> 8) * (1.0f / 16777216.0f);
        inside += x * x + y * y < 1.0f;
    }
    states[id] = state;  // RACE
    atomicAdd(hits, (unsigned long long)inside);
}
