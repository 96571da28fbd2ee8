//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: the winner lets others win again.
extern "C" __global__ void winner_compare_broken(const int *in, int *taken, int *where, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 100 && atomicCAS(taken, 0, 1) == 0) {
        *where = i; // RACE
        atomicExch(taken, 0);
    }
}
