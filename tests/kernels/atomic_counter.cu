//@ verdict: verified
//@ block: 256
//@ grid: 64
//@ compiler: clang
// Positive elements are counted by atomics on one cell.

extern "C" __global__ void atomic_counter(const float *x, int n, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f)
        atomicAdd(count, 1);
}
