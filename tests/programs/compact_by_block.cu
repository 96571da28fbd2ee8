//@ verdict: verified
//@ block: 128
//@ grid: 100
//@ param: n=12500
//@ gap: known possible-race: that a block's slots end where those of the next one begin (its base is a sum that was counted) is not known
//@ gap: free possible-race: that a block's slots end where those of the next one begin is not known
//@ gap: launch possible-race: that a block's slots end where those of the next one begin is not known
// Keeps the even numbers: counted in the block first, so that one atomic operation a block is enough.

extern "C" __global__ void compact_by_block(const int *in, int *out, int *total, int n) {
    __shared__ int count, base;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int value = i < n ? in[i] : 1;
    int place = 0;
    if (value % 2 == 0) place = atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(total, count);
    __syncthreads();
    if (value % 2 == 0) out[base + place] = value;
}
