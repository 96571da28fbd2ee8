//@ verdict: verified
//@ block: 8
//@ grid: 2
// A lock in shared memory, taken and returned at block scope by instructions with semantics of their own.
extern "C" __global__ void lock_of_block(const int *in, int *out) {
    __shared__ int lock;
    __shared__ int most;
    if (threadIdx.x == 0) {
        lock = 0;
        most = 0;
    }
    __syncthreads();
    int mine = in[blockIdx.x * 8 + threadIdx.x];
    int old;
    do {
        asm volatile("atom.acquire.cta.shared.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "r"((unsigned)__cvta_generic_to_shared(&lock)) : "memory");
    } while (old != 0);
    if (mine > most) most = mine;
    asm volatile("st.release.cta.shared.b32 [%0], 0;" :: "r"((unsigned)__cvta_generic_to_shared(&lock)) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = most;
}
