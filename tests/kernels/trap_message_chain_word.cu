//@ verdict: race
//@ block: 64
//@ grid: 16
// A block waits for the block before, and reads the sum of the one before that.
extern "C" __global__ void trap_message_chain_word(const int *in, int *flags, int *partial, int *out) {
    __shared__ int before;
    int mine = in[blockIdx.x * 64 + threadIdx.x];
    int sum = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x == 0) {
        int carried = 0;
        if (blockIdx.x > 1) {
            while (((volatile int *)flags)[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            carried = partial[blockIdx.x - 2];  // RACE
        }
        partial[blockIdx.x] = carried + sum;  // RACE
        __threadfence();
        ((volatile int *)flags)[blockIdx.x] = 1;
        before = carried;
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = before + mine;
}
