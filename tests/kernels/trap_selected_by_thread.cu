//@ verdict: divergence
//@ block: 64
//@ grid: 4
// The table is asked for another function by each thread.
typedef int (*operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int meet(int a, int b) { __syncthreads(); return a + b; }  // DIVERGENCE
__constant__ operation table[2] = {plus, meet};

extern "C" __global__ void trap_selected_by_thread(int *out, const int *which) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    out[g] = table[which[g] & 1](g, 4);
}
