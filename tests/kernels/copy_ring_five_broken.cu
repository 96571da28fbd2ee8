//@ verdict: race
//@ block: 128
//@ grid: 16
// The wait leaves one group too many open.

// At the lines of its uses.
#define copy(to, from)                                                                                     \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), \
                 "l"(__cvta_generic_to_global(from)) : "memory")
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

extern "C" __global__ void copy_ring_five_broken(const float *in, float *out, int n) {
    __shared__ __align__(16) float tile[5][512];
    int t = threadIdx.x;
    in += 512 * n * blockIdx.x;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        if (k < n) copy(&tile[k][4 * t], in + 512 * k + 4 * t);  // RACE
        commit();
    }
    int stage = 0, next = 4;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        wait<4>();
        __syncthreads();
        if (k + 4 < n) copy(&tile[next][4 * t], in + 512 * (k + 4) + 4 * t);  // RACE
        commit();
        for (int i = 0; i < 4; i++) sum += tile[stage][(t + 128 * i) ^ 5];  // RACE
        stage = stage + 1 == 5 ? 0 : stage + 1;
        next = next + 1 == 5 ? 0 : next + 1;
    }
    out[128 * blockIdx.x + t] = sum;
}
