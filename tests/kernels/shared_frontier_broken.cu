//@ verdict: divergence
//@ block: 256
//@ grid: 8
// The length is read and changed in one interval.
extern "C" __global__ void shared_frontier(const int *in, int *out) {
    __shared__ int length;
    __shared__ int queue[256];
    if (threadIdx.x == 0) length = 0;
    __syncthreads();
    int g = blockIdx.x * 256 + threadIdx.x;
    int slot = atomicAdd(&length, 1);
    queue[slot] = in[g];
    if (slot > 128) __syncthreads();  // DIVERGENCE
    out[g] = queue[slot];
}
