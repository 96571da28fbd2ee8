//@ verdict: verified
//@ block: 64
//@ grid: 16
// Each block hands its sum on to the next one: a chained scan.
extern "C" __global__ void message_chain(const int *in, int *flags, int *partial, int *out) {
    __shared__ int before;
    int mine = in[blockIdx.x * 64 + threadIdx.x];
    int sum = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x == 0) {
        int carried = 0;
        if (blockIdx.x > 0) {
            while (((volatile int *)flags)[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            carried = partial[blockIdx.x - 1];
        }
        partial[blockIdx.x] = carried + sum;
        __threadfence();
        ((volatile int *)flags)[blockIdx.x] = 1;
        before = carried;
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = before + mine;
}
