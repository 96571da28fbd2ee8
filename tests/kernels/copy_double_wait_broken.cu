//@ verdict: race
//@ block: 128
//@ grid: 16
// The wait lets the newest two groups be: this tile may not be there.

// At the lines of its uses.
#define copy(to, from)                                                                                     \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), \
                 "l"(__cvta_generic_to_global(from)) : "memory")
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

extern "C" __global__ void copy_double(const float *in, float *out, int n) {
    __shared__ __align__(16) float tile[2][512];
    int t = threadIdx.x;
    in += 512 * n * blockIdx.x;
    float sum = 0;
    if (n > 0) copy(&tile[0][4 * t], in + 4 * t);  // RACE
    commit();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) copy(&tile[(k + 1) & 1][4 * t], in + 512 * (k + 1) + 4 * t);  // RACE
        commit();
        wait<2>();
        __syncthreads();
        for (int i = 0; i < 4; i++) sum += tile[k & 1][(t + 128 * i) ^ 5];  // RACE
        __syncthreads();
    }
    out[128 * blockIdx.x + t] = sum;
}
