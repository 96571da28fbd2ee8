//@ verdict: divergence
//@ block: 64
//@ grid: 4
// Every other thread calls the one with the barrier.
typedef int (*operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int meet(int a, int b) { __syncthreads(); return a + b; }  // DIVERGENCE

extern "C" __global__ void selected_function(int *out, int which) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    operation f = g & 1 ? plus : meet;
    out[g] = f(g, 3);
}
