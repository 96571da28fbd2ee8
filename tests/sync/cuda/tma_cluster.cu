//@ run: --block 160 --grid 1,2 --cluster 1,2 --arg 0=tensor:f16:256x64:box=64x32,swizzle=128 --arg 1=tensor:f16:256x16:box=64x8,swizzle=128 --arg 2=zeros:4096 --arg 3=4
//@ arch: sm_90a
//@ variant: own race --schedule=round-robin
//@ variant: mask deadlock
//@ variant: exit barrier-error --schedule=round-robin
// Two blocks of a cluster share a matrix: each loads half of it for both, and refills a stage when the consumers of both have released it, as in CUTLASS.
#include "tma.h"
enum { STAGES = 2, ROWS = 64, COLUMNS = 8, DEPTH = 64, BYTES = (ROWS + COLUMNS) * DEPTH * 2 };

struct SharedStorage {
    alignas(1024) unsigned short a[STAGES][2][ROWS / 2 * DEPTH];
    alignas(1024) unsigned short b[STAGES][COLUMNS * DEPTH];
    u64 full[STAGES];
    u64 empty[STAGES];
};

__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");  // HERE mask own
}

extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(160)
    kernel(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *out, int steps) {
    __shared__ SharedStorage shared;
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            init(&shared.full[stage], 1);
#ifdef BROKEN_own
            init(&shared.empty[stage], 1);
#else
            init(&shared.empty[stage], 2);
#endif
        }
        fence_init();
    }
    cluster_sync();
    if (threadIdx.x >= 128) {
        if (elect_one()) {
            PipelineState<STAGES> state(1);
            for (int step = 0; step < steps; step++) {
                wait(&shared.empty[state.index], state.phase);  // HERE mask own
                arrive_and_expect(&shared.full[state.index], BYTES);
#ifdef BROKEN_mask
                load_multicast(&a, &shared.full[state.index], 1 << rank, shared.a[state.index][rank], step * DEPTH, rank * ROWS / 2);
#else
                load_multicast(&a, &shared.full[state.index], 3, shared.a[state.index][rank], step * DEPTH, rank * ROWS / 2);  // HERE own
#endif
                load(&b, &shared.full[state.index], shared.b[state.index], step * DEPTH, blockIdx.y * COLUMNS);
                state.next();
            }
        }
    } else {
        PipelineState<STAGES> state(0);
        float d[4] = {0, 0, 0, 0};
        for (int step = 0; step < steps; step++) {
            wait(&shared.full[state.index], state.phase);  // HERE mask own
            product_fence();
            for (int k = 0; k < DEPTH / 16; k++)
                product(d, descriptor(&shared.a[state.index][0][16 * k]), descriptor(shared.b[state.index] + 16 * k));
            product_commit();
            product_wait<0>();
#ifdef BROKEN_own
            arrive_at(&shared.empty[state.index], rank, threadIdx.x == 0);
#else
            arrive_at(&shared.empty[state.index], threadIdx.x, threadIdx.x < 2);  // HERE exit
#endif
            state.next();
        }
        int column = blockIdx.y * COLUMNS + threadIdx.x % 4 * 2;
        for (int i = 0; i < 4; i++) out[(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 * 8) * 16 + column + i % 2] = d[i];
    }
#ifndef BROKEN_exit
    cluster_sync();
#endif
}
