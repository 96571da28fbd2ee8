//@ verdict: race
//@ block: 256
//@ grid: 64
//@ compiler: clang
// The cell is incremented without an atomic.

extern "C" __global__ void atomic_counter(const float *x, int n, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f)
        *count = *count + 1;  // RACE
}
