//@ verdict: race
//@ block: 64
//@ grid: 16
// Broken: the total is read whatever the flag says.
extern "C" __global__ void message_states_broken(const int *in, int *flags, int *sums, int *totals) {
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
        carried = totals[blockIdx.x - 1];  // RACE
    }
    totals[blockIdx.x] = carried + sum;  // RACE
    __threadfence();
    ((volatile int *)flags)[blockIdx.x] = 2;
}
