//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: what is left of a slot in 8 bits repeats.
extern "C" __global__ void slots_loop_broken(const int *first, const int *in, int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = first[i]; k < first[i + 1]; k++) {
        if (in[k] > 0) out[atomicAdd(count, 1) & 255] = in[k]; // RACE
    }
}
