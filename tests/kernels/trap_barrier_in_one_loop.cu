//@ verdict: divergence
//@ block: 64
//@ grid: 8
// Odd threads wait inside a loop, even threads inside another: never at the same barrier.

extern "C" __global__ void barrier_in_one_loop(int n, int *a) {
    int g = blockIdx.x * 64 + threadIdx.x;
    int acc = a[g];
    if (g & 1) {
        #pragma unroll 1
        for (int k = 0; k < n; k++) { acc += k; __syncthreads(); }  // DIVERGENCE
    } else {
        #pragma unroll 1
        for (int k = 0; k < n; k++) { acc ^= 3 * k; __syncthreads(); }  // DIVERGENCE
    }
    a[g] = acc;
}
