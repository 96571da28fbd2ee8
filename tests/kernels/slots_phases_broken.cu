//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: the counter starts again, but no barrier ends the reads of the first list.
extern "C" __global__ void slots_phases_broken(const int *in, int *out) {
    __shared__ unsigned count, other;
    __shared__ int list[64];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    if (tid == 0) count = 0;
    if (tid == 0) other = 0;
    __syncthreads();
    int value = in[i];
    if (value > 0) list[atomicAdd(&count, 1u)] = value; // RACE
    if (value < 0) list[atomicAdd(&other, 1u)] = value; // RACE
    __syncthreads();
    out[i] = list[63 - tid];
}
