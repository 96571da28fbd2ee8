//@ verdict: verified
//@ block: 128
//@ grid: 40
//@ param: n=10000
//@ param: phase=1
// One phase of an odd-even sort; the host calls it n times with phases 0 and 1.

extern "C" __global__ void odd_even_step(int *keys, int n, int phase) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < n) {
        int a = keys[i], b = keys[i + 1];
        if (a > b) {
            keys[i] = b;
            keys[i + 1] = a;
        }
    }
}
