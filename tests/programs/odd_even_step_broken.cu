//@ verdict: race
//@ block: 128
//@ grid: 40
//@ param: n=10000
//@ param: phase=1
// Broken: all neighbours are exchanged at once, not every second pair.

extern "C" __global__ void odd_even_step_broken(int *keys, int n, int phase) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + phase;
    if (i + 1 < n) {
        int a = keys[i], b = keys[i + 1];  // RACE
        if (a > b) {
            keys[i] = b;  // RACE
            keys[i + 1] = a;  // RACE
        }
    }
}
