//@ run: --block 256 --grid 2 --arg 0=tensor:f16:320x128:box=64x64,swizzle=128 --arg 1=tensor:f16:320x8:box=64x8,swizzle=128 --arg 2=zeros:4096 --arg 3=5
//@ arch: sm_90a
//@ variant: release barrier-error --schedule=round-robin
//@ variant: early race --schedule=round-robin
//@ variant: bytes deadlock
//@ variant: parity deadlock
//@ variant: init race --schedule=adversarial --seed=2
// A product of matrices in CUTLASS' way: a producer warp group with TMA, a consumer with wgmma, a ring of stages; one product is under way while the next starts.
#include "tma.h"
enum { STAGES = 2, ROWS = 64, COLUMNS = 8, DEPTH = 64, BYTES = (ROWS + COLUMNS) * DEPTH * 2 };

struct SharedStorage {
    alignas(1024) unsigned short a[STAGES][ROWS * DEPTH];
    alignas(1024) unsigned short b[STAGES][COLUMNS * DEPTH];
    u64 full[STAGES];
    u64 empty[STAGES];
};

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                                                         float *out, int steps) {
    __shared__ SharedStorage shared;
    int warp_group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            init(&shared.full[stage], 1);  // HERE init
            init(&shared.empty[stage], 1);
        }
        fence_init();
    }
#ifndef BROKEN_init
    __syncthreads();
#endif
    if (warp_group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x / 32 == 0 && elect_one()) {
#ifdef BROKEN_parity
            PipelineState<STAGES> state(0);
#else
            PipelineState<STAGES> state(1);
#endif
            for (int step = 0; step < steps; step++) {
#ifndef BROKEN_release
                wait(&shared.empty[state.index], state.phase);  // HERE parity bytes
#endif
#ifdef BROKEN_bytes
                arrive_and_expect(&shared.full[state.index], BYTES + 16);
#else
                arrive_and_expect(&shared.full[state.index], BYTES);  // HERE release
#endif
                load(&a, &shared.full[state.index], shared.a[state.index], step * DEPTH, blockIdx.x * ROWS);  // HERE early
                load(&b, &shared.full[state.index], shared.b[state.index], step * DEPTH, blockIdx.y * COLUMNS);  // HERE early
                state.next();
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        PipelineState<STAGES> state(0), release(0);
        float d[4] = {0, 0, 0, 0};
        for (int step = 0; step < steps; step++) {
            u32 token = try_wait(&shared.full[state.index], state.phase);  // HERE init
            if (!token) wait(&shared.full[state.index], state.phase);  // HERE parity bytes
            product_fence();
            for (int k = 0; k < DEPTH / 16; k++)
                product(d, descriptor(shared.a[state.index] + 16 * k), descriptor(shared.b[state.index] + 16 * k));  // HERE early
            product_commit();
#ifdef BROKEN_early
            if (threadIdx.x == 128) arrive(&shared.empty[state.index]);
#else
            if (step > 0) {
                product_wait<1>();
                if (threadIdx.x == 128) arrive(&shared.empty[release.index]);
                release.next();
            }
#endif
            state.next();
        }
        product_wait<0>();
        int row = blockIdx.x * ROWS + (threadIdx.x - 128) / 4, column = blockIdx.y * COLUMNS + threadIdx.x % 4 * 2;
        for (int half = 0; half < 2; half++)
            for (int i = 0; i < 2; i++) out[(row - row % ROWS + row % ROWS / 8 * 16 + row % 8 + 8 * half) * 8 + column + i] = d[half * 2 + i];
    }
}
//@ symbolic: --block 256 --grid 2 --tensor 0=f16:320x128:box=64x64,swizzle=128 --tensor 1=f16:320x8:box=64x8,swizzle=128
