//@ verdict: race
//@ block: 32
//@ grid: 3
// Broken: the third goes on when the first of them has come.
extern "C" __global__ void message_counter_broken(const int *in, int *sums, unsigned *count, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x < 2) {
        sums[blockIdx.x] = in[blockIdx.x];  // RACE
        __threadfence();
        atomicAdd(count, 1);
    } else {
        while (atomicAdd(count, 0) < 1) {
        }
        __threadfence();
        *out = sums[0] + sums[1];  // RACE
    }
}
