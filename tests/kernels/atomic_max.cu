//@ verdict: verified
//@ block: 256
//@ grid: 64
// Running maximum by atomics; the result is read by a later kernel.

extern "C" __global__ void atomic_max(const int *x, int *best) {
    int v = x[blockIdx.x * 256 + threadIdx.x];
        atomicMax(best, v);
}
