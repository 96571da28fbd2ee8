//@ verdict: race
//@ block: 64
//@ grid: 4
// The length is read while others still add to it.
extern "C" __global__ void trap_length_changes(const int *in, int *out) {
    __shared__ int length;
    if (threadIdx.x == 0) length = 0;
    __syncthreads();
    if (in[threadIdx.x] > 0) atomicAdd(&length, 1);  // RACE
    int seen = length;  // RACE
    out[blockIdx.x * 64 + threadIdx.x] = seen;
}
