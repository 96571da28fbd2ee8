//@ verdict: race
//@ block: 64
//@ grid: 8
// All extern shared arrays are one region, whatever their names and types.

extern __shared__ float first[];
extern __shared__ int second[];

extern "C" __global__ void extern_shared(const float *in, int *out) {
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    first[t] = in[g];  // RACE
    out[g] = second[63 - t];  // RACE
}
