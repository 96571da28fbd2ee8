// TMA, barrier objects and wgmma in inline PTX, as CUTLASS wraps them.
typedef unsigned int u32;
typedef unsigned long long u64;
struct alignas(64) TensorMap { u64 words[16]; };

__device__ __forceinline__ u32 shared_address(const void *pointer) { return (u32)__cvta_generic_to_shared(pointer); }

__device__ __forceinline__ bool elect_one() {
    u32 elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
    return elected != 0;
}

__device__ __forceinline__ void init(u64 *barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ __forceinline__ u32 try_wait(u64 *barrier, u32 parity) {
    u32 done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
    return done;
}
__device__ __forceinline__ void wait(u64 *barrier, u32 parity) {
    asm volatile("{ .reg .pred p; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra DONE; bra LAB_WAIT; DONE: }"
                 ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}
__device__ __forceinline__ void arrive_and_expect(u64 *barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(u64 *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void arrive_at(u64 *barrier, u32 rank, u32 is_signalling) {
    asm volatile("{ .reg .pred p; .reg .b32 remote; setp.eq.u32 p, %2, 1; @p mapa.shared::cluster.u32 remote, %0, %1; "
                 "@p mbarrier.arrive.shared::cluster.b64 _, [remote]; }"
                 ::"r"(shared_address(barrier)), "r"(rank), "r"(is_signalling) : "memory");
}

__device__ __forceinline__ void load(const TensorMap *map, u64 *barrier, void *to, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                 ::"r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void load_multicast(const TensorMap *map, u64 *barrier, unsigned short mask, void *to, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%4, %5}], [%2], %3;"
                 ::"r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "h"(mask), "r"(x), "r"(y) : "memory");
}

// A matrix of rows of 128 bytes, swizzled.
__device__ __forceinline__ u64 descriptor(const void *start) {
    return (u64)((shared_address(start) & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)64 << 32 | (u64)1 << 62;
}
__device__ __forceinline__ void product(float (&d)[4], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
__device__ __forceinline__ void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void product_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Which stage is next, and the parity of its phase.
template <int STAGES> struct PipelineState {
    int index = 0;
    u32 phase;
    __device__ PipelineState(u32 phase) : phase(phase) {}
    __device__ __forceinline__ void next() {
        if (++index == STAGES) {
            index = 0;
            phase ^= 1;
        }
    }
};
