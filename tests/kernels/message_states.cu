//@ verdict: verified
//@ block: 64
//@ grid: 16
// A block takes the sum of the one before, or its total: 1 or 2 in the flag says which is there.
extern "C" __global__ void message_states(const int *in, int *flags, int *sums, int *totals) {
    if (threadIdx.x != 0) return;
    int sum = in[blockIdx.x];
    sums[blockIdx.x] = sum;
    __threadfence();
    ((volatile int *)flags)[blockIdx.x] = 1;
    int carried = 0;
    if (blockIdx.x > 0) {
        int state;
        do {
            state = ((volatile int *)flags)[blockIdx.x - 1];
        } while (state == 0);
        __threadfence();
        carried = state == 2 ? totals[blockIdx.x - 1] : sums[blockIdx.x - 1];
    }
    totals[blockIdx.x] = carried + sum;
    __threadfence();
    ((volatile int *)flags)[blockIdx.x] = 2;
}
