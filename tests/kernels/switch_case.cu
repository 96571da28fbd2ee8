//@ verdict: verified
//@ block: 256
//@ grid: 64
// Four cases of a switch, each for another residue of the thread.

extern "C" __global__ void switch_case(const float *in, float *out, float *aux) {
    int g = blockIdx.x * 256 + threadIdx.x;
    switch (threadIdx.x & 3) {
    case 0: out[g] = in[g]; break;
    case 1: aux[g] = -in[g]; break;
    case 2: out[g + 1] = sqrtf(in[g]); break;
    default: aux[g + 1] = in[g] * in[g]; break;
    }
}
