//@ verdict: race
//@ block: 64
//@ grid: 16
// Broken: nothing releases the sum.
extern "C" __global__ void message_chain_broken(const int *in, int *flags, int *partial, int *out) {
    __shared__ int before;
    int mine = in[blockIdx.x * 64 + threadIdx.x];
    int sum = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x == 0) {
        int carried = 0;
        if (blockIdx.x > 0) {
            while (((volatile int *)flags)[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            carried = partial[blockIdx.x - 1];  // RACE
        }
        partial[blockIdx.x] = carried + sum;  // RACE
        ((volatile int *)flags)[blockIdx.x] = 1;
        before = carried;
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = before + mine;
}
