//@ verdict: verified
//@ block: 32
//@ grid: 3
// Two blocks add to a counter, the third waits for both.
extern "C" __global__ void message_counter(const int *in, int *sums, unsigned *count, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x < 2) {
        sums[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        atomicAdd(count, 1);
    } else {
        while (atomicAdd(count, 0) != 2) {
        }
        __threadfence();
        *out = sums[0] + sums[1];
    }
}
