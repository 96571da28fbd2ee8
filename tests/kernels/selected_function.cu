//@ verdict: verified
//@ block: 64
//@ grid: 4
// All threads call one function, of a table and by a selection, and one of them has a barrier.
typedef int (*operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int meet(int a, int b) { __syncthreads(); return a + b; }
__constant__ operation table[2] = {plus, meet};

extern "C" __global__ void selected_function(int *out, int which) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    operation f = which ? plus : meet;
    out[g] = table[which & 1](f(g, 3), 4);
}
