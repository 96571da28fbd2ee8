//@ verdict: verified
//@ block: 256
//@ grid: 8
// A queue of the block, behind whose barrier all threads see one length.
extern "C" __global__ void shared_frontier(const int *in, int *out) {
    __shared__ int length;
    __shared__ int queue[256];
    if (threadIdx.x == 0) length = 0;
    __syncthreads();
    int g = blockIdx.x * 256 + threadIdx.x;
    if (in[g] > 0) queue[atomicAdd(&length, 1)] = threadIdx.x;
    __syncthreads();
    if (length > 128) {
        queue[255 - threadIdx.x] = 1;
        __syncthreads();
    }
    if (threadIdx.x < length) out[blockIdx.x * 256 + threadIdx.x] = queue[threadIdx.x];
}
