//@ verdict: race
//@ block: 128
//@ grid: 16
// A barrier without a wait.

// At the lines of its uses.
#define copy(to, from)                                                                                     \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), \
                 "l"(__cvta_generic_to_global(from)) : "memory")
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

extern "C" __global__ void copy_once(const float *in, float *out) {
    __shared__ __align__(16) float tile[512];
    int t = threadIdx.x;
    copy(&tile[4 * t], in + 512 * blockIdx.x + 4 * t);  // RACE
    commit();
    
    __syncthreads();
    out[128 * blockIdx.x + t] = tile[511 - t];  // RACE
}
