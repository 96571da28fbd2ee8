//@ verdict: race
//@ block: 256
//@ grid: 64
// The step is one block only.

extern "C" __global__ void backward_loop(int n, float *x) {
    #pragma unroll 1
    for (int i = n - 1 - (int)(blockIdx.x * 256 + threadIdx.x); i >= 0; i -= 256)
        x[i] = -x[i];  // RACE
}
